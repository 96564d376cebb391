import { runCli } from '../run-cli.ts'

/** Runs a command line in this process, without a terminal. Returns its exit code and its output. */
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
