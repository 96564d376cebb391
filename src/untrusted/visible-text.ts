/** What a terminal obeys instead of showing it: controls (escape sequences begin with one), breaks of lines, marks that turn the order of letters. */
const obeyed = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu
/** Besides these: characters that show nothing at all. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Whether every character of a name can be seen. */
export function isVisible(name: string): boolean {
  return !unseen.test(name)
}

/**
 * Foreign text as it may be printed: what a terminal would obey is written out (`\u001b`), also as JSON means it. Line breaks and tabs
 * stay: `visibleLine` is for what must not begin a line of its own.
 */
export function visibleText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(obeyed, (character) =>
      character === '\n' || character === '\t' ? character : writtenOut(character),
    )
}

/** Foreign text on one line, cut after `most` characters; what is cut off is counted. */
export function visibleLine(text: string, most: number): string {
  const shown = text.slice(0, most).replaceAll(obeyed, writtenOut)
  return text.length > most ? `${shown}... (${text.length} characters)` : shown
}

/** Foreign text of several lines, none of which can be taken for one of ours: those after the first are indented. */
export function visibleBlock(text: string, indent: string): string {
  return visibleText(text).replaceAll('\n', `\n${indent}`)
}

function writtenOut(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
