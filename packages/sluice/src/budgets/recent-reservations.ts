// What this process knows of its newest reservations by their ids: a table of fixed size, since a Map costs as much as the rest of it.

/** About 2 MB at most. A power of two. */
const PLACES = 4096

/** One value for each place, the last that was set there: another id may push it out. */
export class RecentReservations<V extends { readonly id: string }> {
  private readonly places = new Array<V | undefined>(PLACES).fill(undefined)

  get(id: string): V | undefined {
    const value = this.places[placeOf(id)]
    return value?.id === id ? value : undefined
  }

  set(value: V): void {
    this.places[placeOf(value.id)] = value
  }

  delete({ id }: V): void {
    const place = placeOf(id)
    if (this.places[place]?.id === id) this.places[place] = undefined
  }
}

/** Ids begin with random characters, of which three tell more places apart than there are. */
function placeOf(id: string): number {
  return ((id.charCodeAt(0) * 67 + id.charCodeAt(1)) * 67 + id.charCodeAt(2)) & (PLACES - 1)
}
