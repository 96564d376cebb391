import { defineKind } from '../kind.ts'
import { between, listed, numbers, please, several, things } from '../shared/draws.ts'
import { itemsOf, numberOf, partly } from '../shared/scores.ts'

interface Item {
  name: string
  weight: number
  value: number
}

/** Which things to pack; another choice that fits is worth a part of a half, by its value. */
export const knapsack = defineKind({
  name: 'knapsack',
  about: 'the most valuable things that fit into a bag',
  knobs: {
    items: { least: 2, most: 8, about: 'to choose from' },
    largest: { least: 6, most: 50, about: 'weight and value' },
  },
  levels: [
    { items: 3, largest: 9 },
    { items: 4, largest: 12 },
    { items: 6, largest: 20 },
  ],
  templates: [
    'A bag [holds|can carry] <capacity> kg. <items>. [Which things make|Which choice makes] it most valuable',
    `${please}[choose|pick] the most valuable things that fit into <capacity> kg: <items>`,
    '[Which of these|What] should [one|I] pack into a bag for <capacity> kg, to carry the most value: <items>',
  ],
  unseen: ['The limit is <capacity> kg. On offer: <items>. Name the best load'],
  draw(random, { items: count, largest }) {
    const items = several(random, things, count).map((name) => ({
      name,
      weight: between(random, 1, largest),
      value: between(random, 1, largest),
    }))
    const all = items.reduce((sum, { weight }) => sum + weight, 0)
    const lightest = Math.min(...items.map(({ weight }) => weight))
    return {
      items,
      capacity: Math.max(lightest, between(random, Math.ceil(all / 4), Math.ceil((3 * all) / 4))),
    }
  },
  pose({ items, capacity }: { items: readonly Item[]; capacity: number }) {
    const chosen = best(items, capacity)
    const weight = (list: readonly Item[]): number => list.reduce((sum, item) => sum + item.weight, 0)
    const value = (list: readonly Item[]): number => list.reduce((sum, item) => sum + item.value, 0)
    const said = items.map((item) => `${item.name} weighs ${item.weight} kg and is worth ${item.value}`)
    return {
      key: `${capacity}: ${[...said].sort().join(', ')}`,
      holes: { capacity: String(capacity), items: said.join(', ') },
      thought: [
        `weight ${chosen.map((item) => item.weight).join(' + ')} = ${weight(chosen)}`,
        `worth ${chosen.map((item) => item.value).join(' + ')} = ${value(chosen)}`,
      ],
      answer: chosen.map(({ name }) => name).join(', '),
      score(given) {
        const names = itemsOf(given).filter((word) => word !== 'the')
        const list = items.filter(({ name }) => names.includes(name))
        if (list.length === 0 || list.length !== names.length || weight(list) > capacity) return 0
        return value(list) === value(chosen) ? 1 : partly(value(list) / value(chosen))
      },
    }
  },
})

/** By trying every choice; of equally good ones the first. */
function best(items: readonly Item[], capacity: number): Item[] {
  let found: Item[] = []
  let most = 0
  for (let choice = 1; choice < 2 ** items.length; choice++) {
    const list = items.filter((_, i) => ((choice >> i) & 1) === 1)
    const value = list.reduce((sum, item) => sum + item.value, 0)
    if (value <= most || list.reduce((sum, item) => sum + item.weight, 0) > capacity) continue
    found = list
    most = value
  }
  return found
}

/** As few coins as possible, where taking the largest first may be wrong; the amount in more coins is worth a part. */
export const coinChange = defineKind({
  name: 'coin-change',
  about: 'the fewest coins that make an amount',
  knobs: {
    coins: { least: 2, most: 5, about: 'kinds' },
    largest: { least: 8, most: 50, about: 'coin' },
    amount: { least: 20, most: 200, about: 'largest' },
  },
  levels: [
    { coins: 2, largest: 10, amount: 25 },
    { coins: 3, largest: 12, amount: 40 },
    { coins: 4, largest: 25, amount: 80 },
  ],
  templates: [
    '[Pay|Make|Give] <amount> with as few coins as possible, [from|using|out of] coins of <coins>. List the coins',
    `${please}list the fewest coins of <coins> that [make|add up to|give] <amount>`,
    'There are coins of <coins>. [Which fewest coins|Which smallest number of coins] [make|add up to|give] <amount>? List them',
  ],
  unseen: ['How does one settle <amount> with the least pieces of <coins>? Write every piece'],
  draw: (random, { coins, largest, amount }) => ({
    coins: [1, ...numbers(random, coins - 1, 2, largest)].sort((a, b) => a - b),
    amount: between(random, 5, amount),
  }),
  pose({ coins, amount }: { coins: readonly number[]; amount: number }) {
    const wanted = fewest(coins, amount)
    let left = amount
    const rests = wanted.map((coin) => {
      left -= coin
      return String(left)
    })
    return {
      key: `${amount}: ${coins.join(' ')}`,
      holes: { coins: listed(coins.map(String)), amount: String(amount) },
      thought: [`left ${rests.join(', ')}`],
      answer: wanted.join(', '),
      score(given) {
        const said = itemsOf(given.replaceAll('+', ' ')).map((item) => numberOf(item))
        if (said.length === 0 || said.length > 200 || said.some((coin) => !coins.includes(coin))) return 0
        if (said.reduce((sum, coin) => sum + coin, 0) !== amount) return 0
        return said.length === wanted.length ? 1 : partly(wanted.length / said.length)
      },
    }
  },
})

/** By dynamic programming over amounts; the largest coin that is right comes first. */
function fewest(coins: readonly number[], amount: number): number[] {
  const count = [0]
  for (let sum = 1; sum <= amount; sum++)
    count.push(1 + Math.min(...coins.filter((coin) => coin <= sum).map((coin) => count[sum - coin])))
  const list: number[] = []
  for (let sum = amount; sum > 0; sum -= list.at(-1) as number)
    list.push(
      [...coins].reverse().find((coin) => coin <= sum && count[sum - coin] === count[sum] - 1) as number,
    )
  return list
}
