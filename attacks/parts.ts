import type { AttackPart } from './attack.ts'
import { fuzz } from './fuzz/fuzz.ts'
import { damage } from './damage/damage.ts'
import { kills } from './kills/kills.ts'
import { limits } from './limits/limits.ts'
import { requests } from './requests/requests.ts'
import { soak } from './requests/soak.ts'
import { schemas } from './schemas/schemas.ts'
import { servers } from './servers/servers.ts'

/** The parts of `npm run attack`, in the order in which they run. */
export const parts: readonly AttackPart[] = [schemas, fuzz, servers, requests, soak, kills, limits, damage]
