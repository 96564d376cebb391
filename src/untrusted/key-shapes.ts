/**
 * Keys of services that can be recognised by their shape alone: a prefix that the service gives to all of them, and enough characters
 * after it. Each pattern reads a text in linear time.
 */
const shapes: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{20,}/g, // OpenAI, Anthropic, OpenRouter
  /\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}/g, // Stripe
  /\bgh[pousr]_[A-Za-z0-9]{30,}/g, // GitHub
  /\bgithub_pat_[A-Za-z0-9_]{22,}/g,
  /\bglpat-[A-Za-z0-9_-]{20,}/g, // GitLab
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\bhf_[A-Za-z0-9]{30,}/g, // Hugging Face
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, // AWS
  /\bAIza[0-9A-Za-z_-]{35}/g, // Google
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g, // Slack
  /\beyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,4000}/g, // JSON Web Tokens
  /\bBearer [A-Za-z0-9._~+/=-]{16,}/g,
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{1,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----/g,
]

/**
 * Replaces what has the shape of a known service's key by `[redacted]`. A secret of no known shape stays.
 *
 * @example withoutKeys('key: AKIAABCDEFGHIJKLMNOP') // 'key: [redacted]'
 */
export function withoutKeys(text: string): string {
  return shapes.reduce((left, shape) => left.replaceAll(shape, '[redacted]'), text)
}
