import type { Tokenizer } from '../../tokenizer/tokenizer.ts'

// Of the private use area: a name that stands in a message goes through the template as `OPEN index CLOSE`.
const open = '\uE0F0'
const close = '\uE0F1'

/** Keeps the names of special tokens that stand in messages from becoming those tokens when a rendered template is encoded. */
export interface SpecialNames {
  hide(text: string): string
  /** The same for every text in JSON. */
  hideIn<T>(json: T): T
  /** Throws AgogeError `sequence-too-long` for more tokens than `most`. */
  encode(rendered: string, most?: number): number[]
}

/** For the special tokens of a tokenizer (`<|im_end|>`); other added tokens (`<tool_call>`) are ordinary words of a model. */
export function createSpecialNames(tokenizer: Tokenizer): SpecialNames {
  const names = [...tokenizer.model.specialTokens].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(
    names.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'),
    'g',
  )
  const hidden = new RegExp(`${open}(\\d+)${close}`)
  const hide = (text: string): string => {
    const plain = text.replaceAll(open, '').replaceAll(close, '')
    return names.length === 0
      ? plain
      : plain.replaceAll(pattern, (name) => `${open}${names.indexOf(name)}${close}`)
  }
  return {
    hide,
    hideIn: (json) => JSON.parse(hide(JSON.stringify(json))) as typeof json,
    encode(rendered, most = Infinity) {
      const ids: number[] = []
      for (const [i, part] of rendered.split(hidden).entries()) {
        const left = { most: most - ids.length }
        // Every second part is the index of a hidden name.
        const found =
          i % 2 === 1
            ? tokenizer.encode(names[Number(part)], left)
            : tokenizer.encode(part, { addedTokens: true, ...left })
        for (const id of found) ids.push(id)
      }
      return ids
    },
  }
}
