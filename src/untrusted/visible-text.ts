/**
 * What a terminal interprets instead of showing: control characters (which start escape sequences), line breaks,
 * bidirectional marks.
 */
const obeyed = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu
/** These, and further invisible characters. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Whether every character of a name is visible. */
export function isVisible(name: string): boolean {
  return !unseen.test(name)
}

/**
 * Untrusted text, safe to print: escapes what a terminal would interpret (`\u001b`), in JSON's notation. Keeps line
 * breaks and tabs; use `visibleLine` for text that must not start a new line.
 */
export function visibleText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(obeyed, (character) =>
      character === '\n' || character === '\t' ? character : writtenOut(character),
    )
}

/** Untrusted text on one line, cut after `most` characters. A cut text ends with its full length. */
export function visibleLine(text: string, most: number): string {
  const shown = text.slice(0, most).replaceAll(obeyed, writtenOut)
  return text.length > most ? `${shown}... (${text.length} characters)` : shown
}

/** Untrusted text of several lines. Indents all lines after the first, so that none can pass for one of ours. */
export function visibleBlock(text: string, indent: string): string {
  return visibleText(text).replaceAll('\n', `\n${indent}`)
}

function writtenOut(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
