const list = (text: string): readonly string[] => text.trim().split(/\s+/)

export const roomNames = list(
  `kitchen cellar attic library hall workshop pantry greenhouse parlour chapel tower stable`,
)
export const supports = list(`table shelf desk bench altar stool rack counter pedestal cart ledge mantel`)
export const containers = list(
  `chest box drawer cupboard trunk crate barrel cabinet locker urn hamper coffer`,
)
export const colours = list(`red blue green silver golden white black brown`)
export const nouns = list(
  `cup book coin lamp rope bell candle map ring feather spoon flute mirror dice glove jar`,
)
export const keyNames = ['brass key', 'iron key', 'copper key', 'rusty key'] as const
