import type { Drawing } from '../../environment/index.ts'

export const leftWall = -1.2
export const rightWall = 0.6

const height = (x: number): number => Math.sin(3 * x) * 0.45 + 0.55

/** The valley of both mountain cars: the car at `position`, a flag at `goal` (m). */
export function drawHill(position: number, goal: number): Drawing {
  const points = Array.from({ length: 61 }, (_, k) => {
    const x = leftWall + ((rightWall - leftWall) * k) / 60
    return [x, height(x)] as const
  })
  return {
    view: [leftWall, 0, rightWall - leftWall, 1.2],
    shapes: [
      { type: 'line', points, stroke: '#888', width: 0.01 },
      {
        type: 'line',
        points: [
          [goal, height(goal)],
          [goal, height(goal) + 0.15],
        ],
        stroke: '#a00',
        width: 0.01,
      },
      { type: 'rectangle', x: goal, y: height(goal) + 0.1, width: 0.07, height: 0.05, fill: '#a00' },
      { type: 'circle', x: position, y: height(position) + 0.03, radius: 0.03, fill: '#333' },
    ],
  }
}
