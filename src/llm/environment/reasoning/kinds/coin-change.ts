import { defineKind } from '../kind.ts'
import { between, numbers } from '../shared/draws.ts'
import { itemsOf, numberOf, partly } from '../shared/scores.ts'
import { listed, please } from '../shared/words.ts'

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
