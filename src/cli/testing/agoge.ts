import { runCli } from '../run-cli.ts'

/** A command line in this process, not on a terminal: its exit code, and what it said where. */
export async function agoge(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', '']
  const code = await runCli(words, {
    out: (text) => {
      out += `${text}\n`
    },
    err: (text) => {
      err += `${text}\n`
    },
    progress: {
      write: (text: string) => {
        err += text
      },
    },
    signal: new AbortController().signal,
    debug: false,
  })
  return { code, out, err }
}
