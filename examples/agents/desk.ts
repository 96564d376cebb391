// What the tools of the example agents look up: the program around the agent, the same for each framework.

const weather: Readonly<Record<string, string>> = {
  Oslo: 'rain, 12',
  Lima: 'sun, 25',
  Cairo: 'wind, 31',
  Vienna: 'snow, 2',
}

/** The weather in a town: the sky, and degrees. */
export const weatherAt = (town: string): string => weather[town] ?? 'no such town'

/** The guests who are coming, one a line. */
export const guestList = (): string => ['Amber', 'Viktor', 'Lena', 'Tomas'].join('\n')
