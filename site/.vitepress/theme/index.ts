// The default theme, with a live picture on the page of every algorithm and a converter on the pages of other limiters.
import { h } from 'vue'
import { useData, type Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import AlgorithmPicture from './AlgorithmPicture.vue'
import { EXAMPLES } from './import-examples.ts'
import ImportHere from './ImportHere.vue'

const ALGORITHM = /reference\/algorithms\/([a-z-]+)\.md$/
const OTHER_LIMITER = /coming-from\/([a-z-]+)\.md$/

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () => {
    const { page } = useData()
    const path = page.value.relativePath
    return h(DefaultTheme.Layout, null, { 'doc-before': () => partOf(path) })
  },
}

/** What stands above the text of a page. */
function partOf(path: string) {
  const algorithm = ALGORITHM.exec(path)?.[1]
  if (algorithm !== undefined && algorithm !== 'index')
    return h(AlgorithmPicture, { key: algorithm, name: algorithm })
  const limiter = OTHER_LIMITER.exec(path)?.[1]
  return limiter !== undefined && limiter in EXAMPLES
    ? h(ImportHere, { key: limiter, name: limiter })
    : null
}

export default theme
