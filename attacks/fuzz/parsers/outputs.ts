// What language models answer: calls in text, chat completions, requests in other words.
import { createRandom } from '../../../src/engine/random/index.ts'
import { createEndpointParameters, readCompletion } from '../../../src/llm/agent/chat-completions.ts'
import { readTemplateOutput, visibleText } from '../../../src/llm/agent/chat-format/template-output.ts'
import { parseCalls, parseExactCall, parseSegments, repairJson } from '../../../src/llm/agent/parse-calls.ts'
import { checkOutcome } from '../../../src/llm/audit/outcome-check.ts'
import { answers } from '../../../src/llm/environment/definition/solution.ts'
import { hasValue } from '../../../src/llm/environment/mcp/goals/value.ts'
import type { ExpectedAnswer } from '../../../src/llm/environment/mcp/goals/value.ts'
import { reasoningKinds } from '../../../src/llm/environment/reasoning/kinds/index.ts'
import { readParaphrases } from '../../../src/llm/environment/mcp/teacher/drafts.ts'
import { createChatTemplate } from '../../../src/llm/tokenizer/chat-template.ts'
import { deepestJson, nestingOf, parseForeignJson } from '../../../src/untrusted/foreign-json.ts'
import { makeJson } from '../mutate-json.ts'
import { makeText } from '../mutate-text.ts'
import { isRecord, Mismatch, mustEqual, textOf } from '../parser.ts'
import type { FuzzParser } from '../parser.ts'
import { readFileSync } from 'node:fs'

const outputs = {
  examples: [
    '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": [true, null]}}\n</tool_call>',
    'Let me see.\n```json\n{"tool": "find", "args": {"q": "x"}}\n```\nDone.',
    '<|call|>{"name":"a","arguments":{}}<|call|>{"name":"b","arguments":{"c":"d"}}<|end|>',
    '{"function": {"name": "f", "arguments": "{\\"a\\": 1}"}}',
    "{'name': 'f', 'parameters': {'x': True, y: None, 'z': 'it\\'s',},",
    '<think>\nhm\n</think>\n\nThe answer is 12.',
    '<|python_tag|>{"type": "function", "name": "f", "parameters": {"a": "b"}}',
    '{"name":"move_file","arguments":{"source":"a.txt","destination":"b"}}',
    '[{"name": "a", "arguments": {}}, {"name": "b", "input": {"c": 1e5}}]',
  ],
  words: [
    '<tool_call>',
    '</tool_call>',
    '<|call|>',
    '<|end|>',
    '```',
    '```json\n',
    '<think>',
    '</think>',
    '"name"',
    '"arguments"',
    '"function"',
    '"tool_calls"',
    ':',
    ',',
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    '\\',
    'True',
    'None',
    'constructor',
    '__proto__',
    'toString',
  ],
}

const calls: FuzzParser = {
  name: 'calls in text',
  share: 3,
  make: (random) => makeText(random, outputs),
  parse(input, reach) {
    const text = textOf(input)
    reach(1)
    for (const repair of [false, true]) {
      const read = parseCalls(text, { repair })
      if (read.calls.length > 0) reach(3)
      else if (read.invalid !== undefined) reach(2)
      for (const call of read.calls) {
        if (typeof call.name !== 'string' || !isRecord(call.arguments))
          throw new Mismatch('a call without name or arguments')
        // As the conversation is sent and stored.
        mustEqual(JSON.parse(JSON.stringify(call)), call, 'a call written and read')
      }
    }
    parseExactCall(text)
    parseSegments(text, text.split('<|call|>'))
    for (const before of ['<tool_call>\n{"name": "', '{"name": "']) {
      const style = { before, between: '', after: '' }
      readTemplateOutput(text, style)
      const streamed = visibleText(text, style, true)
      if (typeof streamed.text !== 'string') throw new Mismatch('no text')
    }
  },
}

const damaged = {
  examples: [
    '{"a":[1,2.5e-3,{"b":"x\\n\\u00e9\\"y"}],"c":null,"d":true}',
    '[]',
    '{"name":"f","arguments":{"path":"C:\\\\x"}}',
    '"text"',
    '-0.5',
  ],
  words: ['a', 'b', '__proto__', 'constructor', 'True', 'None'],
}

const repair: FuzzParser = {
  name: 'damaged JSON',
  make: (random) => makeJson(random, damaged),
  parse(input, reach) {
    const text = textOf(input)
    const repaired = repairJson(text)
    if (repaired !== undefined) reach(2)
    if (nestingOf(text) > deepestJson) return
    let value: unknown
    try {
      value = parseForeignJson(text)
    } catch {
      return
    }
    reach(1)
    // What is whole is left as it is. Numbers and words outside of brackets are no calls.
    if (typeof value !== 'object' || value === null) return
    reach(3)
    mustEqual(repaired, value, 'whole JSON repaired')
  },
}

const completions = {
  examples: [
    {
      choices: [{ message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    },
    {
      choices: [
        {
          message: {
            content: [{ type: 'text', text: 'a' }],
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
          },
          finish_reason: 'length',
        },
      ],
      usage: { prompt_tokens: '3' },
    },
    {
      error: {
        message: "Unsupported parameter: 'max_tokens'",
        type: 'invalid_request_error',
        param: 'max_tokens',
      },
    },
    { detail: [{ loc: ['body', 'temperature'], msg: 'not allowed' }] },
  ].map((each) => JSON.stringify(each)),
  words: [
    'choices',
    'message',
    'content',
    'tool_calls',
    'function',
    'name',
    'arguments',
    'finish_reason',
    'usage',
    'prompt_tokens',
    'error',
    'param',
    'detail',
    'loc',
    'temperature',
    'max_tokens',
    'text',
    'type',
  ],
}

const completion: FuzzParser = {
  name: 'answers of a chat endpoint',
  share: 2,
  make: (random) => makeJson(random, completions),
  parse(input, reach) {
    const text = textOf(input)
    let body: unknown
    try {
      body = parseForeignJson(text)
      reach(1)
    } catch {
      body = undefined
    }
    const read = readCompletion(body)
    if (isRecord(body) && Array.isArray(body['choices'])) reach(2)
    if (read !== undefined) {
      if (!Number.isFinite(read.promptTokens)) throw new Mismatch('a count that is no number')
      reach(3)
    }
    const parameters = createEndpointParameters({ temperature: 1, max_tokens: 5 }, () => {})
    for (let tries = 0; parameters.concede(400, text, parameters.current()); tries++)
      if (tries > 5) throw new Mismatch('it gives way without end')
  },
}

const replies = {
  examples: [
    '[{"style": "terse", "request": "How many?"}, {"style": "polite", "request": "Could you say how many\\nthere are?"}]',
    '<think>[{ maybe }]</think>\nHere:\n```json\n[{"style":"casual","request":"hey"},]\n```',
  ],
  words: ['[', '{', '}', ']', '"style"', '"request"', '</think>', ',', '"'],
}

const paraphrases: FuzzParser = {
  name: 'requests in other words',
  make: (random) => makeText(random, replies),
  parse(input, reach) {
    reach(1)
    const read = readParaphrases(textOf(input))
    if (read === undefined) return
    reach(3)
    if (!read.every(({ style, request }) => typeof style === 'string' && typeof request === 'string'))
      throw new Mismatch('a paraphrase without text')
    readParaphrases(textOf(input), true)
  },
}

const golden = JSON.parse(
  readFileSync(new URL('../../../src/llm/golden/chat-templates.json', import.meta.url), 'utf8'),
) as Record<string, { template: string }>

const templates = {
  examples: Object.values(golden).map(({ template }) => template),
  words: [
    '{%',
    '%}',
    '{{',
    '}}',
    '{#',
    '#}',
    '{%-',
    'if',
    'else',
    'endif',
    'for',
    'endfor',
    'in',
    'messages',
    'tools',
    'set',
    'namespace()',
    'loop.index',
    '| tojson',
    '| length',
    '.items()',
    '[0]',
    'is defined',
    'raise_exception("x")',
    'range(9)',
    'not',
    'and',
    '~',
    '+',
    '(',
    ')',
    '"',
  ],
}

const conversation = [
  { role: 'system', content: 's' },
  { role: 'user', content: 'u' },
  {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'c', type: 'function' as const, function: { name: 'f', arguments: { a: 1 } } }],
  },
  { role: 'tool', content: 'r', tool_call_id: 'c' },
  { role: 'assistant', content: 'a' },
]

const template: FuzzParser = {
  name: 'a chat template',
  share: 0.4,
  make: (random) => makeText(random, templates),
  parse(input, reach) {
    const made = createChatTemplate(textOf(input), { bos_token: '<s>', eos_token: '</s>' })
    reach(2)
    const text = made.render(conversation, {
      addGenerationPrompt: true,
      tools: [{ type: 'function', function: { name: 'f' } }],
    })
    if (typeof text !== 'string') throw new Mismatch('no text')
    reach(3)
  },
}

const said = {
  examples: [
    'The total is 1,250.',
    'id: 3, price: 8',
    '17 plus 4 is 21',
    'Ada, Bob and Eve',
    '"Europe/London"',
    'Monday, 5 January 2026',
    'There is none.',
    'yes',
    'Let me think.\nAnswer: <answer>42</answer>',
    '\\boxed{UDLR}',
    'score: 4\nreason: fine\nranking: 2 > 1 = 3',
  ],
  words: [
    'Answer:',
    'answer is',
    '<answer>',
    '</answer>',
    '\\boxed{',
    '}',
    ' is ',
    ', ',
    ' and ',
    ' or ',
    '"',
    '.',
    ':',
    '\n',
    '1,000',
    '-',
    '2026-01-05',
    '“',
    '”',
    '*',
  ],
}

const wantedAnswers: readonly ExpectedAnswer[] = [
  { type: 'number', answer: '1250', others: ['17'] },
  { type: 'text', answer: 'Ada', others: ['Bob', 'Eve'] },
  { type: 'list', answer: 'Ada, Bob, Eve' },
  { type: 'date', answer: '2026-01-05' },
  { type: 'boolean', answer: 'true' },
  { type: 'none', answer: 'there is none' },
]

const problems = reasoningKinds.map((kind) => kind.generate(createRandom('problem', kind.name), 1))

const agentAnswer: FuzzParser = {
  name: 'answers of an agent',
  make: (random) => makeText(random, said),
  parse(input, reach) {
    const text = textOf(input)
    reach(1)
    for (const wanted of wantedAnswers) if (hasValue(text, wanted)) reach(3)
    for (const wanted of [
      { kind: 'any' },
      { kind: 'number', number: 21 },
      { kind: 'text', text: 'Ada', others: ['Bob'] },
    ] as const)
      if (answers(wanted, text)) reach(2)
    for (const problem of problems) {
      const score = problem.verify(text)
      if (!(score >= 0 && score <= 1)) throw new Mismatch(`a score of ${score}`)
    }
    const task = {
      id: 'a',
      kind: 'a',
      seed: 0,
      split: 'train',
      prompt: 'Who?',
      difficulty: 1,
      context: {},
    } as const
    const reference = {
      task,
      calls: [],
      changes: [],
      shown: false,
      start: null,
      end: null,
      unstable: new Set<string>(),
      answer: 'Ada',
      reward: 1,
    }
    checkOutcome(reference as never, { state: null, answer: text }, ['Ada', 'Bob'])
  },
}

export const outputParsers: readonly FuzzParser[] = [
  calls,
  repair,
  completion,
  paraphrases,
  template,
  agentAnswer,
]
