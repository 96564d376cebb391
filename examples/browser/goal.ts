/** Mean return of 100 episodes at which CartPole-v1 counts as solved. */
export const goal = 475

/** Environment steps at which training gives up. The learning rate falls to 0 over this number. */
export const budget = 100_000
