export { pointMass } from './point-mass.ts'
export { reacher } from './reacher.ts'
