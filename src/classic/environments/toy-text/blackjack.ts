import {
  defineEnvironment,
  discrete,
  type EnvironmentRandom,
  type FiniteDefinition,
  finiteModel,
  type FiniteModel,
  multiDiscrete,
  type TransitionOutcome,
} from '../../environment/index.ts'

const cards = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

/** The number of a state of the model: the player's sum, the dealer's card, a usable ace and a natural. */
export const blackjackState = (sum: number, card: number, ace: 0 | 1, natural: 0 | 1): number =>
  ((sum * 11 + card) * 2 + ace) * 2 + natural

/** The exact model of `blackjack`, from the probabilities of an infinite deck. */
function blackjackModel({
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
      const over = (probability: number, reward: number, next = state): TransitionOutcome => ({
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

/** The sum of a hand whose aces count 1, and whether an ace counts 11. */
function handOf(hard: number, hasAce: boolean): { sum: number; ace: 0 | 1 } {
  return hasAce && hard <= 11 ? { sum: hard + 10, ace: 1 } : { sum: hard, ace: 0 }
}

/** The distribution of the dealer's result, given the first card: each sum, a bust at 0, and an ace with a ten. */
function dealerEnds(
  shown: number,
  stands: number,
  chance: (card: number) => number,
): { sums: Float64Array; natural: number } {
  const sums = new Float64Array(32)
  if (shown === 0) return { sums, natural: 0 }
  /** [hard sum, has an ace]: the probability of reaching such a hand. Cards add at least 1, so one pass is enough. */
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

const stateSize = 7
/** The positions of the hands in the state. A hand is: sum with aces as 1, 1 if it has an ace, number of cards. */
const player = 0
const dealer = 3
/** The dealer's visible card. */
const shown = 6

const definition = defineEnvironment({
  name: 'blackjack',
  observation: multiDiscrete([32, 11, 2]),
  action: discrete(2),
  context: {
    naturalWins: {
      default: 1,
      low: 0,
      high: 1,
      integer: true,
      about: '1: an ace with a ten wins against any other 21',
    },
    naturalReward: {
      default: 1,
      low: 1,
      high: 2,
      extrapolate: [0.5, 3],
      about: 'of winning with an ace and a ten',
    },
    dealerStands: {
      default: 17,
      low: 16,
      high: 18,
      extrapolate: [14, 20],
      integer: true,
      about: 'sum at which the dealer stops',
    },
    tens: {
      default: 4,
      low: 2,
      high: 6,
      extrapolate: [0, 10],
      integer: true,
      about: 'tens to each other card in the deck',
    },
  },
  stateSize,
  reset({ state, context }, i, random) {
    const s = i * stateSize
    const tens = context.tens[i]
    state.fill(0, s, s + stateSize)
    state[s + shown] = deal(state, s + dealer, tens, random)
    deal(state, s + dealer, tens, random)
    deal(state, s + player, tens, random)
    deal(state, s + player, tens, random)
    // The reference draws the suit and face of this card for its pictures, from the same stream.
    random.integers(4)
    if (state[s + shown] === 10) random.integers(3)
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const s = i * stateSize
    const tens = context.tens[i]
    if (actions[i] === 1) {
      deal(state, s + player, tens, random)
      const bust = state[s + player] > 21
      rewards[i] = bust ? -1 : 0
      terminated[i] = bust ? 1 : 0
      return
    }
    while (total(state, s + dealer) < context.dealerStands[i]) deal(state, s + dealer, tens, random)
    const own = total(state, s + player)
    const other = total(state, s + dealer)
    const won = other > 21 || own > other
    const natural = isNatural(state, s + player)
    terminated[i] = 1
    if (natural && (won || (context.naturalWins[i] === 1 && !isNatural(state, s + dealer))))
      rewards[i] = context.naturalReward[i]
    else rewards[i] = won ? 1 : own === other ? 0 : -1
  },
  observe({ state, observations }, i) {
    const s = i * stateSize
    const sum = total(state, s + player)
    observations[i * 3] = sum
    observations[i * 3 + 1] = state[s + shown]
    observations[i * 3 + 2] = sum > state[s + player] ? 1 : 0
  },
  text({ state }, i) {
    const s = i * stateSize
    const sum = total(state, s + player)
    const soft = sum > state[s + player] ? ' with an ace' : ''
    return `player ${sum}${soft}, dealer shows ${state[s + shown]}`
  },
})

/**
 * Blackjack against a dealer, from an infinite deck (Sutton & Barto, Reinforcement Learning, example 5.1).
 * Equal card for card to Gymnasium 1.3's Blackjack-v1; the default is its `sab=True`. For `natural=True`, set
 * naturalWins 0 and naturalReward 1.5; for neither, naturalWins 0. Actions: stick, hit. Observation: the
 * player's sum, the dealer's card (1 is an ace), 1 if an ace counts 11. Reward: 1, 0 or -1 at the end.
 *
 * The states of `transitions` are ((sum * 11 + card) * 2 + ace) * 2 + natural; natural is 1 for an ace with a
 * ten.
 */
export const blackjack: FiniteDefinition<typeof definition.context> = {
  ...definition,
  transitions: blackjackModel,
}

/** Deals one card to a hand and returns its value. */
function deal(state: Float64Array, hand: number, tens: number, random: EnvironmentRandom): number {
  const card = Math.min(random.integers(9 + tens) + 1, 10)
  state[hand] += card
  if (card === 1) state[hand + 1] = 1
  state[hand + 2]++
  return card
}

/** The sum of a hand. An ace counts 11 if the sum stays at most 21. */
function total(state: Float64Array, hand: number): number {
  const sum = state[hand]
  return state[hand + 1] === 1 && sum <= 11 ? sum + 10 : sum
}

const isNatural = (state: Float64Array, hand: number): boolean =>
  state[hand + 2] === 2 && state[hand + 1] === 1 && state[hand] === 11
