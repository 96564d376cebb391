import { AgogeError } from '../../../error.ts'

/** The address of a server, with or without `/api/v1`, without a slash at its end. Throws where it is none. */
export function serverUrl(baseUrl: string): URL {
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new AgogeError(`"${baseUrl}" is not the address of a Tinker server.`, {
      code: 'bad-tinker-url',
      given: baseUrl,
      expected: 'an http or https address, e.g. http://127.0.0.1:8765',
    })
  }
  const url = new URL(baseUrl)
  if (url.username !== '' || url.password !== '') {
    throw new AgogeError('The address of the Tinker server holds a name or a password.', {
      code: 'bad-tinker-url',
      given: `an address at ${url.host}`,
      expected: 'an address alone; the key comes from the environment variable TINKER_API_KEY',
    })
  }
  url.search = ''
  url.hash = ''
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
  return url
}
