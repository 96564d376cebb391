// What modes make their tools of.

const word = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] }

/** A tool that takes a word. */
export const tool = (name, call, more = {}) => ({ name, inputSchema: word, call, ...more })

/** A tool with this schema that says how much it was given. */
export const given = (name, inputSchema, more = {}) => ({
  name,
  inputSchema,
  call: (args) => ({ given: JSON.stringify(args).length }),
  ...more,
})

/** The schema of an object. */
export const object = (properties, more = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
})

export const text = (value) => ({ content: [{ type: 'text', text: value }] })

export const megabyte = 1_000_000
