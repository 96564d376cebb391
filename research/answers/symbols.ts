import { AgogeError } from 'agoge'

/** A vocabulary of single characters: id 0 ends an answer, the characters of the alphabet follow in their order. */
export interface Symbols {
  /** Ids in all. */
  size: number
  end: number
  /** @throws AgogeError `bad-symbol` for a character that is not in the alphabet. */
  encode(text: string): Int32Array
  /** Up to the first end. */
  decode(tokens: ArrayLike<number>): string
}

export function createSymbols(alphabet: string): Symbols {
  const characters = Array.from(alphabet)
  const ids = new Map(characters.map((character, i) => [character, i + 1]))
  return {
    size: characters.length + 1,
    end: 0,
    encode: (text) =>
      Int32Array.from(text, (character) => {
        const id = ids.get(character)
        if (id !== undefined) return id
        throw new AgogeError('A text has a character that the vocabulary lacks', {
          code: 'bad-symbol',
          given: character,
          expected: `one of ${alphabet}`,
        })
      }),
    decode(tokens) {
      let text = ''
      for (let i = 0; i < tokens.length && tokens[i] !== 0; i++) text += characters[tokens[i] - 1]
      return text
    },
  }
}
