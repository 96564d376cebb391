import { parseOwnJson } from '../../../untrusted/own-json.ts'
import type { ChatMessage } from '../../tokenizer/template.ts'
import { inventedCall, type InventedCall, inventedTools } from './calls.ts'
import {
  between,
  chance,
  distinct,
  type Draw,
  itemName,
  key,
  personOrPlace,
  pick,
  placeName,
  placePath,
  quoted,
  say,
  sentence,
  shortLine,
  shuffled,
  stem,
  value,
  word,
  words,
} from './draw.ts'
import { request } from './tree-task.ts'
import { parentOf } from './tree.ts'
import { endings } from './words.ts'

const exchange = (text: string, answer: string): ChatMessage[] => [
  { role: 'user', text },
  { role: 'assistant', text: answer },
]

/** Repeat words, paths, names or a sentence exactly. */
export function copying(d: Draw): ChatMessage[] {
  const kind = d.random.int(8)
  const text =
    kind < 2
      ? words(d, 1, 7).join(' ')
      : kind === 2
        ? words(d, 2, 6).join(', ')
        : kind === 3
          ? placePath(d, between(d, 1, 2)) + `/${itemName(d)}`
          : kind === 4
            ? distinct(between(d, 2, 4), () => itemName(d)).join(pick(d, ['\n', ', ', ' ']))
            : kind === 5
              ? shortLine(d)
              : kind === 6
                ? words(d, 3, 6).join(pick(d, ['-', '_', '/', '.', ' - ', '; ', ' | ', ' + ', ': ']))
                : `${sentence(d)}${pick(d, ['.', '!', '?', ''])}`
  const ask = say(
    d,
    '[[repeat|copy|say again|write down|say]:|[repeat|copy|say|write] [this|exactly|word for word|the following]:|[repeat|say] after me:|the words are:|again:]',
  )
  return exchange(
    `${ask}${pick(d, [' ', ' ', '\n'])}${quoted(d, text, 0.15).replace(/^['"](.*)['"]$/s, '$1')}`,
    text,
  )
}

/** Select from a list: its first, last, second ... entry, the one after another, the reversed list, or its length. */
export function listPicking(d: Draw): ChatMessage[] {
  const names = chance(d, 0.3)
  const items = distinct(between(d, 2, 7), () => (names ? itemName(d) : word(d)))
  const shown = items.join(pick(d, [', ', ', ', ' ', '\n', '; ']))
  const draw = d.random.next()
  const at = d.random.int(items.length)
  const ordinal = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh']
  let question: string
  let answer: string
  if (draw < 0.4) {
    question = say(d, '[how many|count the|number of] [words|names|things] [here|in this list|]')
    answer = String(items.length)
  } else if (draw < 0.7) {
    const last = at === items.length - 1 && chance(d, 0.7)
    question = say(d, '[which is|what is|give me|] the {which} [one|name|word]', {
      which: last ? 'last' : ordinal[at],
    })
    answer = items[at]
  } else if (draw < 0.85 && items.length > 1) {
    const before = Math.min(at, items.length - 2)
    const after = chance(d, 0.7)
    question = say(d, '[which|what] [comes|is|stands] {how} {item}', {
      how: after ? 'after' : 'before',
      item: items[after ? before : before + 1],
    })
    answer = items[after ? before + 1 : before]
  } else {
    const inside = chance(d, 0.5)
    const asked = inside ? items[at] : names ? itemName(d) : word(d)
    question = say(
      d,
      '[is {asked} [here|in this list|among them]|does this list [have|contain|hold] {asked}]',
      { asked },
    )
    answer = items.includes(asked) ? 'yes' : 'no'
  }
  return exchange(chance(d, 0.5) ? `${question}: ${shown}` : `${shown}\n${question}?`, answer)
}

/** Count lines with a kind marker, or list those of a kind. */
export function kindCounting(d: Draw): ChatMessage[] {
  const kinds = words(d, 2, 2)
  const [one, two] = kinds as [string, string]
  const lines = distinct(between(d, 1, 8), () => (chance(d, 0.5) ? itemName(d) : placeName(d))).map(
    (name) => ({ kind: chance(d, 0.65) ? one : two, name }),
  )
  const mark = pick(d, [
    (k: string) => `<${k}> `,
    (k: string) => `(${k}) `,
    (k: string) => `${k}: `,
    (k: string) => `{${k.toUpperCase()}} `,
    (k: string) => `[${k.toUpperCase()}] `,
    (k: string) => `${k} `,
  ])
  const shown = lines.map(({ kind, name }) => mark(kind) + name).join('\n')
  const asked = chance(d, 0.75) ? one : two
  const hits = lines.filter(({ kind }) => kind === asked)
  if (chance(d, 0.75)) {
    return exchange(
      `${shown}\n${say(d, '[how many {asked} [lines|]|count the {asked} lines|number of {asked}]', { asked })}?`,
      String(hits.length),
    )
  }
  return exchange(
    `${shown}\n${say(d, '[names of|which are|list] the {asked} [lines|]', { asked })}?`,
    hits.length === 0 ? 'none' : hits.map(({ name }) => name).join(', '),
  )
}

/** Convert `key: value` lines or words to JSON and back, including nested objects and lists. */
export function keyValueJson(d: Draw): ChatMessage[] {
  const keys = distinct(between(d, 1, 4), () => key(d))
  const typed = keys.map((name): [string, unknown] => {
    const draw = d.random.next()
    if (draw < 0.6) return [name, value(d)]
    if (draw < 0.75) return [name, d.random.int(100)]
    if (draw < 0.85) return [name, chance(d, 0.5)]
    return [name, chance(d, 0.5) ? itemName(d) : `${placePath(d, 1)}/${itemName(d)}`]
  })
  const object = Object.fromEntries(typed)
  const json = JSON.stringify(chance(d, 0.15) ? { [word(d)]: object } : object)
  const outer = Object.keys(parseOwnJson(json) as object)[0]
  const plain = typed.map(([name, found]) => `${name}${pick(d, [': ', ': ', ' = ', ' is '])}${String(found)}`)
  const wrapped = outer !== keys[0] ? ` ${say(d, '[under|inside|within] {outer}', { outer })}` : ''
  const draw = d.random.next()
  if (draw < 0.55) {
    return exchange(
      say(d, `[as json|json of|make json|into json|to json]{wrapped}: {plain}`, {
        wrapped,
        plain: plain.join(pick(d, [', ', '\n', '; '])),
      }),
      json,
    )
  }
  if (draw < 0.8) {
    const [name, found] = pick(d, typed)
    return exchange(`${json}\n${say(d, '[what is|give|value of|] {name}', { name })}?`, String(found))
  }
  if (draw < 0.9) {
    const items = words(d, 1, 5)
    return exchange(
      `${say(d, '[as a json list|json list of|make a json list]')}: ${items.join(', ')}`,
      JSON.stringify(items),
    )
  }
  return exchange(
    `${say(d, '[as lines|lines of|plain]')}: ${JSON.stringify(object)}`,
    typed.map(([name, found]) => `${name}: ${String(found)}`).join('\n'),
  )
}

/** Join and split paths. */
export function pathWork(d: Draw): ChatMessage[] {
  const box = placePath(d, between(d, 1, 2))
  const name = itemName(d)
  const path = `${box}/${name}`
  const dot = name.lastIndexOf('.')
  const other = placePath(d, between(d, 1, 2))
  const ending = pick(d, endings)
  const fresh = `${stem(d)}.${pick(d, endings)}`
  const kinds: (() => [string, string])[] = [
    () => [
      say(d, '[join|path of|full path of|put together] [{box} and {name}|{name} [in|under] {box}]', {
        box,
        name,
      }),
      path,
    ],
    () => [
      say(d, '[full path of|path of|path for] {name} [in|under|of] [the|] {top} [place|part|corner]', {
        name,
        top: box.split('/')[1],
      }),
      `/${box.split('/')[1]}/${name}`,
    ],
    () => [
      say(d, '{path} [brought|taken|moved|carried] [to|into] {other} is', { path, other }),
      `${other}/${name}`,
    ],
    () => [
      say(d, '[place of|where does it stand:|parent of|all but the last part of] {path}', { path }),
      box,
    ],
    () => [
      say(d, '[last part of|only the last name of|name at the end of|bare name of] {path}', { path }),
      name,
    ],
    () => [say(d, '{path} with the [last part|last name|name] {fresh}', { path, fresh }), `${box}/${fresh}`],
    () =>
      dot > 0
        ? [
            say(d, '{path} [ending in|with the ending] {ending}', { path, ending }),
            `${box}/${name.slice(0, dot)}.${ending}`,
          ]
        : [say(d, 'last part of {path}', { path }), name],
    () =>
      dot > 0
        ? [say(d, '[ending of|what does it end in:] {path}', { path }), name.slice(dot + 1)]
        : [say(d, 'parent of {path}', { path }), parentOf(path)],
    () => [say(d, '[first part of|top of] {path}', { path }), path.split('/')[1]],
  ]
  const [question, answer] = pick(d, kinds)()
  return exchange(question, answer)
}

/** One or two given texts and a small question about them. */
export function aboutText(d: Draw): ChatMessage[] {
  const kind = d.random.int(5)
  if (kind === 0) {
    const people = distinct(between(d, 2, 3), () => personOrPlace(d))
    const facts = people.map((who) => ({ who, has: word(d), where: word(d) }))
    const asked = pick(d, facts)
    const said = facts
      .map(({ who, has, where }) =>
        say(d, '{who} [has|keeps|holds] the {has} [in|near] the {where}', { who, has, where }),
      )
      .join('. ')
    const [question, answer] = pick(d, [
      [`what does ${asked.who} have?`, asked.has],
      [`who has the ${asked.has}?`, asked.who],
      [`where is the ${asked.has}?`, asked.where],
    ])
    return exchange(`${said}. ${question}`, answer)
  }
  if (kind === 1) {
    const text = shortLine(d)
    const parts = text.split(' ')
    const inside = chance(d, 0.5)
    const asked = inside ? pick(d, parts) : word(d)
    return exchange(
      say(d, '[text:|] {text}\n[does it|does this] [mention|contain|say|have] {asked}?', { text, asked }),
      parts.includes(asked) ? 'yes' : 'no',
    )
  }
  if (kind === 2) {
    const text = words(d, 2, 6).join(' ')
    const parts = text.split(' ')
    const old = pick(d, parts)
    const fresh = word(d)
    return exchange(
      say(d, '[put|use|take] {fresh} [for|instead of] {old}: {text}', { fresh, old, text }),
      parts.map((part) => (part === old ? fresh : part)).join(' '),
    )
  }
  if (kind === 3) {
    const [given, a, b] = words(d, 3, 3) as [string, string, string]
    const seen = chance(d, 0.5) ? given : word(d)
    return exchange(
      say(
        d,
        'if [the word is|it says] {given}[ then|,|] [say|answer] {a}[, otherwise|, else|; if not] {b}.',
        { given, a, b },
      ) + `\n${seen}`,
      seen === given ? a : b,
    )
  }
  const lines = distinct(between(d, 2, 5), () => shortLine(d))
  const at = d.random.int(lines.length)
  const which =
    at === lines.length - 1 && chance(d, 0.6) ? 'last' : ['first', 'second', 'third', 'fourth', 'fifth'][at]
  return exchange(
    `${lines.join('\n')}\n${say(d, '[what is|give me|] the {which} line', { which })}?`,
    lines[at],
  )
}

/** Small talk, so that plain words occur too. */
export function plainTalk(d: Draw): ChatMessage[] {
  if (chance(d, 0.5)) {
    const text = sentence(d)
    return exchange(
      request(d, say(d, '[note|remember|hear this|listen|know]: {text}', { text })),
      `noted: ${text}`,
    )
  }
  const items = shuffled(d, words(d, 2, 5))
  return exchange(
    say(d, '[a line for each|one a line|line by line]: {items}', { items: items.join(', ') }),
    items.join('\n'),
  )
}

const called = (name: string, { args, result }: InventedCall): ChatMessage[] => [
  { role: 'assistant', text: '', calls: [{ name, arguments: args }] },
  { role: 'tool', text: result },
]

/** One memorised tool, sometimes two in a row. Some conversations show descriptions. */
export function memorisedCall(d: Draw): ChatMessage[] {
  const tool = pick(d, inventedTools)
  const call = tool.use(d)
  const system: ChatMessage[] = chance(d, 0.2)
    ? [
        {
          role: 'system',
          text: `tools: ${shuffled(d, [tool.toolDescriptions, pick(d, inventedTools).toolDescriptions])
            .filter((line, i, all) => all.indexOf(line) === i)
            .join(', ')}`,
        },
      ]
    : []
  if (call.answer !== 'done' || chance(d, 0.7)) {
    return [
      ...system,
      { role: 'user', text: request(d, call.ask) },
      ...called(tool.name, call),
      { role: 'assistant', text: call.answer },
    ]
  }
  const next = pick(d, inventedTools)
  const second = next.use(d)
  return [
    {
      role: 'user',
      text: request(d, say(d, '{a}[, then| and then|. then|; next] {b}', { a: call.ask, b: second.ask })),
    },
    ...called(tool.name, call),
    ...called(next.name, second),
    { role: 'assistant', text: second.answer },
  ]
}

/** A tool invented for this conversation, described among up to two others. */
export function describedCall(d: Draw): ChatMessage[] {
  const call = inventedCall(d)
  const others = Array.from({ length: d.random.int(3) }, () => inventedCall(d).toolDescriptions)
  const said =
    chance(d, 0.3) && call.answer !== 'done'
      ? say(d, 'and [tell me|give me] [the result|what it answers|what comes back]')
      : ''
  return [
    { role: 'system', text: `tools: ${shuffled(d, [call.toolDescriptions, ...others]).join(', ')}` },
    { role: 'user', text: request(d, `${call.ask} ${said}`) },
    ...called(call.name, call),
    { role: 'assistant', text: call.answer },
  ]
}
