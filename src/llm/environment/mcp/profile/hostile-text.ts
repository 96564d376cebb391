import { visibleLine } from '../../../../untrusted/visible-text.ts'

/** Sentences by which a text tries to direct a model, in the words that are used for it. */
const directs =
  /[^.!?\n]*\b(?:(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+|these\s+|those\s+)*(?:previous\s+|prior\s+|above\s+|earlier\s+|other\s+|system\s+)*(?:instructions?|prompts?|rules|guidelines)|you\s+are\s+now\s+(?:a|an|in)\b|do\s+not\s+(?:tell|inform|mention\s+(?:this\s+)?to)\s+the\s+user|(?:new|updated)\s+system\s+prompt)[^.!?\n]*/i

/** Quotes what a text says to direct the model that reads it; undefined if it does not. */
export function directsModel(text: string): string | undefined {
  const found = directs.exec(text.slice(0, 20_000))?.[0]
  return found === undefined ? undefined : visibleLine(found.trim(), 200)
}
