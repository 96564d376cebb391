/** The page to rate trials. It loads nothing from elsewhere, and shows what it gets as text, never as markup. */
export const labelPage = (nonce: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rate trials</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<header><strong>Did the agent do the task?</strong><span id="progress" role="status"></span></header>
<progress id="bar" max="1" value="0" aria-label="labelled trials"></progress>
<main id="main" tabindex="-1"></main>
<footer>
<button id="no" class="no">Failure <kbd>0</kbd></button>
<button id="yes" class="yes">Success <kbd>1</kbd></button>
<button id="skip">Skip <kbd>s</kbd></button>
<button id="undo">Undo <kbd>u</kbd></button>
</footer>
<script nonce="${nonce}">${script}</script>
</body>
</html>
`

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
header, footer { display: flex; gap: 8px; padding: 10px 16px; background: Canvas; position: sticky; z-index: 1; }
header { top: 0; justify-content: space-between; flex-wrap: wrap; }
footer { bottom: 0; border-top: 1px solid var(--line); justify-content: center; }
progress { display: block; width: 100%; height: 4px; border: 0; }
main { max-width: 820px; min-height: 70vh; margin: 0 auto; padding: 8px 16px 24px; outline: none; }
section { margin: 14px 0; }
h2 { margin: 0 0 4px; font-size: 13px; font-weight: 600; opacity: .75; }
.text { margin: 0; padding: 8px 12px; border: 1px solid var(--line); border-radius: 6px; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; }
.call { margin: 4px 0 0; font: 13px/1.5 ui-monospace, monospace; background: var(--soft); }
.tool .text { font: 13px/1.5 ui-monospace, monospace; max-height: 320px; overflow: auto; }
.answer .text { border-width: 2px; border-color: Highlight; }
button { flex: 1; max-width: 200px; min-height: 44px; padding: 6px 4px; border: 1px solid var(--line); border-radius: 6px; background: var(--soft); color: inherit; font: inherit; cursor: pointer; }
button:disabled { opacity: .4; cursor: default; }
button.no { border-color: #c33; }
button.yes { border-color: #283; }
kbd { font: 12px ui-monospace, monospace; opacity: .7; border: 1px solid var(--line); border-radius: 3px; padding: 0 4px; }
@media (max-width: 480px) { kbd { display: none; } }
`

const script = `
const byId = (id) => document.getElementById(id)
let current = null
let busy = false
function block(kind, title, text, calls = []) {
  const section = document.createElement('section')
  section.className = kind
  const heading = document.createElement('h2')
  heading.textContent = title
  section.append(heading)
  const add = (content, more) => {
    const pre = document.createElement('pre')
    pre.className = 'text' + more
    pre.textContent = content
    section.append(pre)
  }
  if (text !== '' || calls.length === 0) add(text, '')
  for (const call of calls) add(call.name + '(' + JSON.stringify(call.arguments, null, 1) + ')', ' call')
  return section
}
const names = { system: 'instructions', user: 'user', assistant: 'agent', tool: 'result of a tool' }
function show(state) {
  current = state.item
  byId('progress').textContent = state.done + ' of ' + state.total + ' labelled'
  byId('bar').max = Math.max(1, state.total)
  byId('bar').value = state.done
  for (const id of ['no', 'yes', 'skip']) byId(id).disabled = current === null
  byId('undo').disabled = !state.canTakeBack
  const main = byId('main')
  if (current === null) main.replaceChildren(block('', 'Done', 'All trials are labelled. You can close this page; Ctrl-C ends the server.'))
  else {
    const said = current.conversation.map((node) =>
      block(node.role, (names[node.role] || node.role) + (node.isError ? ' (error)' : ''), node.text, node.calls))
    main.replaceChildren(block('task', 'Task', current.task), ...said, block('answer', 'Answer', current.answer))
  }
  window.scrollTo(0, 0)
  main.focus({ preventScroll: true })
}
async function send(path, body) {
  if (busy) return
  busy = true
  try {
    const sent = await fetch(path, body === undefined ? {} : {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    const answer = await sent.json()
    if (sent.ok) show(answer)
    else {
      byId('progress').textContent = answer.error
      // Another window may have gone on.
      if (body !== undefined) setTimeout(() => send('state'), 500)
    }
  } catch {
    byId('progress').textContent = 'The server does not answer. What was labelled is kept.'
  } finally {
    busy = false
  }
}
const act = {
  no: () => send('label', { key: current.key, success: false }),
  yes: () => send('label', { key: current.key, success: true }),
  skip: () => send('skip', { key: current.key }),
  undo: () => send('undo', {}),
}
for (const id of Object.keys(act)) byId(id).addEventListener('click', () => act[id]())
const keys = { 0: 'no', 1: 'yes', s: 'skip', u: 'undo' }
document.addEventListener('keydown', (event) => {
  const id = keys[event.key.toLowerCase()]
  if (id === undefined || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
  event.preventDefault()
  if (!byId(id).disabled) act[id]()
})
send('state')
`
