import type { Random } from '../../../engine/random/index.ts'

const onsets =
  'b c d f g h j k l m n p r s t v w z bl br ch cl cr dr fl fr gl gr pl pr qu sh sk sl sm sn sp st th tr tw'.split(
    ' ',
  )
const vowels = 'a e i o u a e i o u ai ea ee oo ou ie oa y'.split(' ')
const codas = 'b d g k l m n p r s t x ck ft ld lk lt mp nd ng nk nt rd rk rm rn rt sh sk st th ve ze'.split(
  ' ',
)

/** A pronounceable lower-case word of one to three syllables that is in no list ("brintel", "quoma", "sheck"). */
export function pseudoWord(random: Random): string {
  const draw = random.next()
  const syllables = draw < 0.4 ? 1 : draw < 0.92 ? 2 : 3
  let word = ''
  for (let i = 0; i < syllables; i += 1) {
    if (i > 0 || random.next() < 0.85) word += onsets[random.int(onsets.length)]
    word += vowels[random.int(vowels.length)]
    if (i === syllables - 1 ? random.next() < 0.7 : random.next() < 0.2)
      word += codas[random.int(codas.length)]
  }
  return word.length < 3 ? word + onsets[random.int(18)] + vowels[random.int(10)] : word
}
