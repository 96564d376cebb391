import { finiteModel } from '../../environment/index.ts'
import type { FiniteModel, Outcome } from '../../environment/index.ts'

const cards = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

/** The number of a state of the model, from the player's sum, the dealer's card, a soft ace and a natural. */
export const blackjackState = (sum: number, card: number, ace: 0 | 1, natural: 0 | 1): number =>
  ((sum * 11 + card) * 2 + ace) * 2 + natural

/** The exact model of `blackjack`, by the probabilities of an endless deck. */
export function blackjackModel({
  naturalWins = 1,
  naturalReward = 1,
  dealerStands = 17,
  tens = 4,
}: Partial<Record<string, number>> = {}): FiniteModel {
  const states = 32 * 11 * 2 * 2
  const chance = (card: number): number => (card === 10 ? tens : 1) / (9 + tens)
  const start = new Float64Array(states)
  for (const card of cards) {
    for (const a of cards) {
      for (const b of cards) {
        const hand = handOf(a + b, a === 1 || b === 1)
        const natural = hand.sum === 21 ? 1 : 0
        start[blackjackState(hand.sum, card, hand.ace, natural)] += chance(card) * chance(a) * chance(b)
      }
    }
  }
  const dealers = Array.from({ length: 11 }, (_, card) => dealerEnds(card, dealerStands, chance))

  return finiteModel({
    states,
    actions: 2,
    start,
    outcomes(state, action) {
      const natural = state % 2 === 1
      const ace = (state >> 1) % 2 === 1
      const card = (state >> 2) % 11
      const sum = Math.floor(state / 44)
      const over = (probability: number, reward: number, next = state): Outcome => ({
        probability,
        state: next,
        reward,
        terminated: true,
      })
      if (sum < (ace ? 12 : 4) || sum > 21 || card === 0) return [over(1, 0)]
      if (action === 1) {
        return cards.map((drawn) => {
          const hand = handOf((ace ? sum - 10 : sum) + drawn, ace || drawn === 1)
          const next = blackjackState(hand.sum, card, hand.ace, 0)
          if (hand.sum > 21) return over(chance(drawn), -1, next)
          return { probability: chance(drawn), state: next, reward: 0, terminated: false }
        })
      }
      const dealer = dealers[card]
      let win = dealer.sums[0]
      for (let other = 1; other < sum; other++) win += dealer.sums[other]
      let tie = dealer.sums[sum]
      if (natural && naturalWins === 1) {
        win = 1 - dealer.natural
        tie = dealer.natural
      }
      return [over(win, natural ? naturalReward : 1), over(tie, 0), over(Math.max(0, 1 - win - tie), -1)]
    },
  })
}

/** A hand with that sum, aces counted as 1: its sum and whether an ace counts 11. */
function handOf(hard: number, hasAce: boolean): { sum: number; ace: 0 | 1 } {
  return hasAce && hard <= 11 ? { sum: hard + 10, ace: 1 } : { sum: hard, ace: 0 }
}

/** How a dealer who shows a card ends: the probability of each sum, of a bust at 0, and of an ace and a ten. */
function dealerEnds(
  shown: number,
  stands: number,
  chance: (card: number) => number,
): { sums: Float64Array; natural: number } {
  const sums = new Float64Array(32)
  if (shown === 0) return { sums, natural: 0 }
  /** [hard sum, has an ace]: the probability of coming through such a hand. Cards add at least 1, so one sweep does. */
  const hands = new Float64Array(33 * 2)
  for (const hole of cards) hands[(shown + hole) * 2 + (shown === 1 || hole === 1 ? 1 : 0)] += chance(hole)
  for (let hard = 2; hard <= 31; hard++) {
    for (const ace of [0, 1]) {
      const weight = hands[hard * 2 + ace]
      const { sum } = handOf(hard, ace === 1)
      if (weight === 0) continue
      if (sum >= stands) sums[sum > 21 ? 0 : sum] += weight
      else
        for (const card of cards)
          hands[(hard + card) * 2 + (ace === 1 || card === 1 ? 1 : 0)] += weight * chance(card)
    }
  }
  return { sums, natural: shown === 1 ? chance(10) : shown === 10 ? chance(1) : 0 }
}
