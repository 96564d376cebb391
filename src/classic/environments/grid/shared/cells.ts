/** What may stand on a cell of a board; states hold these numbers. */
export const cells = { floor: 0, wall: 1, goal: 2, key: 3, closedDoor: 4, openDoor: 5 } as const

/** One character a kind, by its number. */
export const cellCharacters = '.#Gk+/'

/** The colour of each kind, by its number. */
export const cellColours = ['#f4f1ea', '#3b3f46', '#3a9d5d', '#d9a514', '#8a5a2b', '#d8b48a'] as const

/** Kinds that cannot be entered. */
export const blocks = (kind: number): boolean => kind === cells.wall || kind === cells.closedDoor
