import type { HttpApp } from '../serving/http.ts'
import { readRequest } from '../serving/openai/app.ts'
import { type Json, RequestError } from '../serving/openai/protocol.ts'
import { checkName } from './places.ts'
import type { Sessions } from './sessions.ts'

/** Adds the routes by which an agent's program rewards and ends its sessions. */
export function addSessionRoutes(app: HttpApp, sessions: Sessions, mostBytes: number): void {
  app.get('/agoge/sessions', ({ json }) => json({ sessions: sessions.list() }))
  app.post('/agoge/sessions/:name/reward', async ({ req, env, json }) => {
    const session = sessions.find(nameOf(req.param('name')))
    const reward = readReward(await readRequest(env.incoming, 2 ** 16))
    if (session === undefined) throw unknownSession()
    session.reward(reward)
    return json({ ok: true })
  })
  app.post('/agoge/sessions/:name/end', async ({ req, env, json }) => {
    const name = nameOf(req.param('name'))
    const { task, output } = await readRequest(env.incoming, mostBytes)
    const episode = await sessions.end(name, {
      ...(typeof task === 'string' && { task }),
      ...(output !== undefined && { output }),
    })
    if (episode === undefined) throw unknownSession()
    const { id, status, success, rewards, error = null } = episode
    return json({ id, status, success, rewards, error })
  })
}

const nameOf = (given: string): string => {
  checkName(given)
  return given
}

const unknownSession = (): RequestError =>
  new RequestError(404, 'unknown_session', 'There is no open session of this name.')

function readReward({ name, value, reason }: Json): { name: string; value: number | null; reason?: string } {
  if (typeof name !== 'string' || name === '' || name.length > 200)
    throw new RequestError(400, 'invalid_value', 'name: expected a name of at most 200 characters', 'name')
  if (value !== null && (typeof value !== 'number' || !Number.isFinite(value)))
    throw new RequestError(
      400,
      'invalid_value',
      'value: expected a number, or null if it cannot be judged',
      'value',
    )
  if (reason !== undefined && typeof reason !== 'string')
    throw new RequestError(400, 'invalid_value', 'reason: expected a text', 'reason')
  return { name, value, ...(reason !== undefined && { reason }) }
}
