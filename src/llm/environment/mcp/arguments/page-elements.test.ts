import { expect, test } from 'vitest'
import { createRandom } from '../../../../engine/random/index.ts'
import { createKnowledge } from './knowledge.ts'
import { elementsOf, isElementRef } from './page-elements.ts'
import { sampleArguments } from './sample-arguments.ts'
import { recordsOf } from './text-records.ts'
import { wordsOf } from './words.ts'

const snapshot = `### Snapshot
- generic [active] [ref=e1]:
  - heading "Shop \\"Oak\\"" [level=1] [ref=e2]
  - textbox "City" [ref=e3]
  - combobox "Product" [ref=e4]:
    - option "Desk" [selected]
    - option "Lamp"
  - button "Order" [ref=e5] [cursor=pointer]
  - paragraph [ref=e6]: Picture 1 of 5`

const target = {
  type: 'string',
  description: 'Exact target element reference from the page snapshot, or a unique element selector',
}

test('the elements of a snapshot are read with their role, name and options', () => {
  expect(elementsOf(snapshot).map(({ ref, role, name }) => [ref, role, name])).toEqual([
    ['e1', 'generic', ''],
    ['e2', 'heading', 'Shop "Oak"'],
    ['e3', 'textbox', 'City'],
    ['e4', 'combobox', 'Product'],
    ['e5', 'button', 'Order'],
    ['e6', 'paragraph', 'Picture 1 of 5'],
  ])
  expect(elementsOf(snapshot)[3].options).toEqual(['Desk', 'Lamp'])
  expect(elementsOf('- a list\n- of "words"')).toEqual([])
  expect(isElementRef('target', target)).toBe(true)
  expect(isElementRef('ref', { description: 'Element ref' })).toBe(true)
  expect(isElementRef('reference', { description: 'The reference of the order' })).toBe(false)
})

/** Twenty draws for a tool of this name. */
function draws(name: string, properties: Record<string, object>, required: string[]) {
  const inputSchema = { type: 'object', properties, required }
  createKnowledge({ tools: [{ name, inputSchema }] })
  return Array.from({ length: 20 }, (_, index) =>
    sampleArguments(inputSchema, {
      random: createRandom(1, name, index),
      words: wordsOf('train'),
      known: recordsOf(snapshot),
      reuse: index % 2 === 0,
    }),
  )
}

test('arguments name an element that the tool can act on, with what belongs to it', () => {
  const text = { type: 'string', description: 'Text to type into the element' }
  for (const args of draws('browser_type', { target, text }, ['target', 'text']))
    expect(args['target']).toBe('role=textbox[name="City"]')
  const values = { type: 'array', items: { type: 'string' } }
  for (const args of draws('browser_select_option', { target, values }, ['target', 'values'])) {
    expect(args['target']).toBe('role=combobox[name="Product"]')
    expect(['Desk', 'Lamp']).toContain((args['values'] as string[])[0])
  }
  const clicked = draws('browser_click', { target }, ['target']).map((args) => args['target'])
  expect(new Set(clicked)).toEqual(new Set(['role=combobox[name="Product"]', 'role=button[name="Order"]']))
  // Where no selector is taken, the reference is given; a second one is another element.
  const ref = { type: 'string', description: 'Element reference from the page snapshot' }
  for (const { from, to } of draws('drag', { from: ref, to: ref }, ['from', 'to'])) {
    expect(from).toMatch(/^e\d$/)
    expect(to).not.toBe(from)
  }
})

test('a field of a form has the role and the name of its element', () => {
  const field = {
    type: 'object',
    properties: {
      target,
      name: { type: 'string' },
      type: { type: 'string', enum: ['textbox', 'checkbox'] },
      value: { type: 'string' },
    },
    required: ['target', 'name', 'type', 'value'],
  }
  for (const args of draws('fill_form', { fields: { type: 'array', items: field } }, ['fields']))
    expect((args['fields'] as unknown[])[0]).toMatchObject({
      target: 'role=textbox[name="City"]',
      name: 'City textbox',
      type: 'textbox',
    })
})
