import type { Random } from '../../../../engine/random/index.ts'
import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import { isPlainObject, type PlainObject } from '../salient.ts'

/** An element of a web page, as accessibility snapshots list it: `- button "Order" [ref=e9]`. */
export interface PageElement extends PlainObject {
  /** What tools that act on the element are given. */
  ref: string
  role: string
  /** The name that a person sees, or its text. Empty if it has none. */
  name: string
  /** The same as `name`, for tools that search for a text. */
  text: string
  /** What can be chosen, in a list of options. */
  options?: string[]
}

const mostElements = 50

const line = /^\s*- ([a-z]+)(?: "((?:[^"\\]|\\.)*)")?((?: \[[^\]]*\])*)(?::(?: (.*))?)?$/

/** The elements that a snapshot of a page lists. None in any other text. */
export function elementsOf(text: string): PageElement[] {
  const found: PageElement[] = []
  let list: PageElement | undefined
  for (const [, role = '', quoted, marks = '', after] of text
    .slice(0, 50_000)
    .split('\n')
    .map((each) => line.exec(each) ?? [])) {
    const name = (quoted ?? after ?? '').replaceAll(/\\(.)/g, '$1').replace(/^"(.*)"$/, '$1')
    if (role === 'option' && list !== undefined) list.options = [...(list.options ?? []), name]
    const [, ref] = /\[ref=([\w-]{1,40})\]/.exec(marks) ?? []
    if (ref === undefined || found.length === mostElements) continue
    const element: PageElement = { ref, role, name, text: name }
    found.push(element)
    if (role === 'combobox' || role === 'listbox') list = element
  }
  return found
}

/** Whether a property takes the reference of an element of a page. */
export function isElementRef(name: string, { description }: JsonSchema): boolean {
  const said = typeof description === 'string' ? description : ''
  return /\belement ref(?:erence)?\b|\bref(?:erence)? (?:of|from) (?:the |an? )?(?:page|element|snapshot)/i.test(
    `${name} ${said.slice(0, 500)}`,
  )
}

const editable = new Set(['textbox', 'searchbox', 'spinbutton'])
const clickable = new Set('button link checkbox radio switch tab menuitem combobox'.split(' '))

/**
 * An element among these records for an object that refers to one: of a role that the object lists, with options where
 * values are chosen, a field where a text is typed, something to click where nothing else is said.
 */
export function pickElement(
  properties: Readonly<Record<string, JsonSchema>>,
  about: string,
  records: readonly PlainObject[],
  { random, weigh }: { random: Random; weigh: (property: string, target: string) => number },
): PageElement | undefined {
  const elements = records.filter(isElement)
  const [property] = Object.entries(properties).find((entry) => isElementRef(...entry)) ?? []
  if (elements.length === 0 || property === undefined) return undefined
  const roles = Object.values(properties).flatMap((schema) =>
    Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : [],
  )
  const listed = elements.filter(({ role }) => roles.includes(role))
  const fitting =
    listed.length > 0
      ? listed
      : /^\S*select/i.test(about)
        ? elements.filter(({ options }) => options !== undefined)
        : /^\S*(?:type|fill|input|enter)/i.test(about)
          ? elements.filter(({ role }) => editable.has(role))
          : /^\S*(?:click|tap|press)/i.test(about)
            ? elements.filter(({ role }) => clickable.has(role))
            : elements.filter(({ name }) => name !== '')
  const some = fitting.length > 0 ? fitting : elements
  return some[
    random.weighted(some.map((element) => weigh(property, targetOf(element, properties[property]))))
  ]
}

/**
 * What names an element in a property: where selectors are taken, its role and name, which hold before the first snapshot
 * and after the page has changed; else its reference.
 */
function targetOf({ ref, role, name }: PageElement, { description }: JsonSchema): string {
  const selectors = typeof description === 'string' && /\bselector\b/i.test(description)
  return selectors && (clickable.has(role) || editable.has(role)) && /^[^"\\\n]{1,60}$/.test(name)
    ? `role=${role}[name="${name}"]`
    : ref
}

/** The value of a property beside others that are made already, if it is about an element; else undefined. */
export function elementArgument(
  name: string,
  property: JsonSchema,
  element: PlainObject | undefined,
  beside: Readonly<PlainObject>,
  { random, records }: { random: Random; records: readonly PlainObject[] },
): unknown {
  if (element === undefined || !isElement(element)) return undefined
  const { ref, role, options = [] } = element
  if (isElementRef(name, property)) {
    const target = targetOf(element, property)
    if (!Object.values(beside).includes(target)) return target
    const others = records.filter(isElement).filter((other) => other.ref !== ref)
    return others.length === 0 ? target : targetOf(random.pick(others), property)
  }
  const members = property['enum']
  if (Array.isArray(members) && members.includes(role)) return role
  if (/^(?:element|name)$/.test(name)) return element.name === '' ? role : `${element.name} ${role}`
  if (options.length > 0 && /^(?:values?|options?)$/.test(name)) {
    const chosen = random.pick(options)
    return isPlainObject(property['items']) ? [chosen] : chosen
  }
  if (name === 'value' && (role === 'checkbox' || role === 'radio')) return 'true'
  return undefined
}

function isElement(record: PlainObject): record is PageElement {
  return typeof record['ref'] === 'string' && typeof record['role'] === 'string'
}
