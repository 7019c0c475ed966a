// The names under which decorators leave what they say.

/** Units per request. */
export const COST = 'sluice:cost'
/** Whether requests go through uncounted. */
export const SKIP = 'sluice:skip'
