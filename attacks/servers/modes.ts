// What the hostile servers do, one line for each mode of modes/*.mjs, and how the command has to end.

export interface ServerMode {
  /** Its name in modes/*.mjs, or in http-server.mjs. */
  mode: string
  /** What it does, for the report. */
  name: string
  /** `tasks`: the good tool has tasks. `refused`: the whole server is unusable, which one error says. `either`: one of both. */
  ends: 'tasks' | 'refused' | 'either'
  /** What has to be in the output, such as the reason for which a tool is left out. */
  says?: RegExp
  /** Whether it is part of `--quick`. */
  quick?: boolean
  /** Whether it is a server behind a URL. */
  http?: boolean
  /** Whether its slots are on the disk of the user's files, so that hard links can be made. */
  sameDisk?: boolean
}

type More = Pick<ServerMode, 'says' | 'quick' | 'sameDisk'>

const works = (mode: string, name: string, more: More = {}): ServerMode => ({
  mode,
  name,
  ends: 'tasks',
  ...more,
})
const refused = (mode: string, name: string, says: RegExp, quick = false): ServerMode => ({
  mode,
  name,
  ends: 'refused',
  says,
  quick,
})
const either = (mode: string, name: string, more: More = {}): ServerMode => ({
  mode,
  name,
  ends: 'either',
  ...more,
})
const quick = { quick: true }

const listing: readonly ServerMode[] = [
  refused(
    'list-new-cursors',
    'tools/list never ends: a new cursor with each page',
    /more than 500 pages/,
    true,
  ),
  refused('list-same-cursor', 'tools/list never ends: the same cursor with each page', /the same page twice/),
  refused('list-empty-pages', 'tools/list never ends: empty pages', /more than 500 pages/),
  refused(
    'list-slow-pages',
    'tools/list never ends: an empty page every two seconds',
    /in 60 s|no answer in time/,
  ),
  refused('list-huge-cursors', 'tools/list never ends: cursors of 5 MB', /cursor|page|too long|s\b/),
  refused('list-6000-tools', '6,000 tools', /more than 5000 tools/),
  refused('list-no-answer', 'tools/list is never answered', /no answer in time/),
  refused('list-no-object', 'tools/list is answered with a text', /tools\/list/),
  refused('list-no-list', 'tools/list is answered with an object in place of the list', /no list "tools"/),
  works('list-null-tools', 'a list of tools that has null, numbers, lists and tools without a name', {
    says: /it is no object/,
  }),
  works('list-twice', 'the same tool three times', { says: /listed again/ }),
  works('names-control', 'names with control characters, line breaks and invisible marks', {
    says: /cannot be seen/,
    ...quick,
  }),
  works('names-long', 'a name of 10,000 characters', { says: /10000 characters, and MCP allows 128/ }),
  works('names-prototype', 'names that objects inherit (__proto__, constructor, then)'),
  works('names-odd', 'names that look like paths, options and commands'),
  works('descriptions-5-mb', 'descriptions of 5 MB'),
  works('descriptions-preach', 'descriptions that tell the model to ignore its instructions', {
    says: /look: it tells the model what to do/,
  }),
  works('annotations-odd', 'annotations, titles and descriptions of the wrong type'),
  works(
    'about-itself',
    'a server whose name has a megabyte and escape sequences, and whose instructions preach',
  ),
]

const schemas: readonly ServerMode[] = [
  works('schemas-no-objects', 'schemas that are null, numbers, lists and other types', {
    says: /"inputSchema"/,
  }),
  works('schemas-odd-parts', 'schemas whose parts are of the wrong type'),
  works('schemas-deep', 'a schema that is nested 5,000 deep', { says: /nested/, ...quick }),
  works('schemas-very-deep', 'a schema that is nested 60,000 deep', { says: /look: / }),
  works('schemas-ref-cycles', '$ref that leads to itself, outside or nowhere', { says: /look_0: / }),
  works('schemas-ref-doubling', '$ref that doubles a schema 40 times'),
  works('patterns-backtracking', 'patterns with catastrophic backtracking'),
  works('patterns-huge', 'patterns with counts of a million and 50,000 brackets'),
  works('patterns-many', '300 tools with expensive patterns'),
  works('enums-100000', 'enums of 100,000 values'),
  works('properties-50000', '50,000 required properties'),
  works('schemas-ask-for-much', 'schemas that ask for texts and lists of a billion, or for what cannot be'),
  works('schemas-many-alternatives', 'anyOf, allOf and oneOf of up to 40,000 schemas'),
]

const results: readonly ServerMode[] = [
  works('result-9-mb-line', 'results of 9 MB in one line', { says: /look: .*characters/, ...quick }),
  works('result-20-mb-line', 'results of 20 MB in one line', { says: /look: / }),
  works('result-9-mb-lines', 'results of 9 MB in many lines', { says: /look: .*(?:characters|bytes)/ }),
  works('result-lines', 'results of 100,000 characters in 10,000 lines'),
  works('result-records', 'results of 1,400 records'),
  works('result-numbers-list', 'results of 25,000 numbers'),
  works('result-keys', 'results of one object with 4,500 properties'),
  works('result-table', 'results of a table with 2,900 rows'),
  works('result-million-items', 'results of 390,000 content items', { says: /look: / }),
  works('result-million-bad-items', 'results of 95,000 content items that are none', { says: /look: / }),
  works('result-odd-items', 'content items of unknown types'),
  works('result-no-items', 'content that is no list', { says: /look: / }),
  works('result-null', 'results that are null', { says: /look: / }),
  works('result-null-items', 'content items that are null, numbers and of no type', { says: /look: / }),
  works('result-broken-images', 'images with broken base64 and a type of 100,000 characters'),
  works('result-contradicts', 'structured content that contradicts the text'),
  works('result-numbers', 'numbers such as 1e999, -0 and integers of 30 digits'),
  works('result-deep-text', 'results of 45,000 brackets, one inside the other'),
  works('result-deep-objects', 'results of objects that are nested 16,000 deep'),
  works('result-deep-structured', 'structured content that is nested 100,000 deep'),
  works('result-prototypes', 'results with properties such as __proto__'),
  works('result-preaches', 'results that tell the model to ignore its instructions', {
    says: /look: it tells the model what to do/,
    ...quick,
  }),
  works('result-differs', 'results that differ each time', { says: /look: / }),
  works('errors-huge', 'errors of 9 MB'),
  works('errors-odd', 'errors that are no errors of the protocol'),
]

const texts: readonly ServerMode[] = [
  works('text-spaces', 'results of 95,000 spaces, tabs and line breaks', quick),
  works('text-brackets', 'results of 95,000 brackets'),
  works('text-quotes', 'results of 95,000 quotes and backslashes'),
  works('text-tables', 'results of 95,000 bars and dashes'),
  works('text-numbers', 'results of 95,000 digits and beginnings of dates'),
  works('text-names', 'results of 95,000 beginnings of names, paths and addresses'),
  works('text-words', 'results that repeat words which errors and descriptions have'),
  works('text-markup', 'results of 95,000 pieces of markup'),
  works('escapes-ansi', 'ANSI escape sequences', quick),
  works('escapes-osc', 'links and clipboard commands of terminals (OSC)'),
  works('escapes-bidi', 'marks that change the direction of writing, and odd line breaks'),
  works('escapes-lines', 'texts that look like lines of Agoge'),
  works('characters-nul', 'NUL bytes and other control characters'),
  works('characters-surrogates', 'lone surrogates'),
  works('characters-invalid-utf-8', 'invalid UTF-8'),
  works('characters-raw-control', 'control bytes inside of JSON'),
]

const protocol: readonly ServerMode[] = [
  refused('initialize-no-answer', 'initialize is never answered', /no answer in 10 s/),
  refused('initialize-old-version', 'initialize is answered with a version of 1999', /version/),
  refused('initialize-odd', 'initialize is answered with the wrong types', /not of the protocol/),
  refused('initialize-refused', 'initialize is refused with a long text that looks like advice', /not you/),
  works('wrong-ids', 'answers with wrong ids before the right one'),
  works('answers-under-wrong-id', 'answers with the wrong id alone', { says: /look: / }),
  works('answers-twice', 'every answer twice, the second another'),
  works('answers-unasked', 'answers to 2,000 requests that were never made'),
  works('answers-of-all-before', 'all earlier requests are answered again'),
  works('notifications-flood', '22,000 notifications with each call'),
  either('notifications-for-ever', 'notifications for ever'),
  works('list-changed-flood', 'tools that change with each call, and 500 notices of it'),
  works('list-changed-withdraws', 'a tool that is withdrawn as soon as it is called'),
  works('asks-in-a-flood', '4,000 requests for sampling, elicitation, roots and pings with each call'),
  works('asks-and-is-odd', 'requests with the ids of ours, null ids and unknown methods'),
  works('line-trickles', 'an answer that never ends, a character every 20 ms', { says: /look: / }),
  works('line-200-mb', 'a line of 200 MB without an end', { says: /look: / }),
  refused('line-for-ever', 'a line that never ends in place of initialize', /stranger/),
  works('lines-empty-flood', 'empty lines for ever', { says: /look: / }),
  works('lines-garbage-flood', 'lines of broken JSON for ever', { says: /look: / }),
  works('lines-no-messages-flood', 'lines of numbers for ever', { says: /look: / }),
  works('lines-odd-messages-flood', 'lines of messages with the wrong types for ever', { says: /look: / }),
  works('lines-deep', 'lines that are nested two million deep'),
  works('garbage-before-json', 'garbage on standard output before the first message'),
  refused('garbage-alone', 'garbage on standard output and no message', /began its standard output with/),
  works('batches', 'batches, which the protocol no longer has'),
  works('stderr-100-mb', '100 MB on standard error'),
  works('stderr-for-ever', 'standard error for ever'),
  refused('dies-at-once', 'a server that ends at once', /exit code 3/),
  works('dies-in-an-answer', 'a server that ends in the middle of an answer', { says: /look: / }),
  works('dies-at-random', 'a server that ends at some call'),
  works('dies-by-signal', 'a server that ends by SIGSEGV', { says: /look: / }),
  works('closes-its-output', 'a server that closes its output and stays', { says: /look: / }),
  either('closes-its-input', 'a tool after which its server reads nothing more'),
  either('closes-its-input-when-read', 'a list that closes the input of its server'),
  refused('never-reads', 'a server that reads nothing', /no answer in 10 s/),
  works('stops-itself', 'a server that stops itself (SIGSTOP)', { says: /look: / }),
  works('spins', 'a server that computes for ever', { says: /look: / }),
  works('hangs', 'a tool that never answers', { says: /look: it takes longer/ }),
  works('fails-in-a-fifth', 'a tool that fails in a fifth of its calls'),
  works('fails-after-ten', 'a tool that always fails after ten calls'),
]

const processes: readonly ServerMode[] = [
  works('ignores-sigterm', 'a server that ignores SIGTERM and the end of its input', quick),
  works('grandchild-in-its-own-session', 'a child in a session of its own, which ignores signals'),
  works('grandchild-of-each-call', 'such a child with each call'),
  works('daemon', 'a daemon whose parent has ended'),
  works('child-with-another-environment', 'a child in its own session with another environment'),
  works('hundred-children', 'a hundred children'),
  works('child-that-starts-anew', 'a daemon that starts itself anew every 50 ms'),
  works('child-holds-its-output', 'a server that ends and leaves its output to a child'),
  either('holds-a-port', 'a server that listens on one port, so that only one can run'),
  works('child-holds-a-port', 'a daemon that holds a port'),
  works('takes-memory', 'a server that takes 30 MB with each call'),
]

const files: readonly ServerMode[] = [
  works('deletes-its-slot', 'a tool that deletes its whole slot'),
  works('deletes-its-notes', 'a tool that deletes the file of another'),
  works('writes-100-mb', 'a tool that writes 100 MB'),
  works('writes-100-mb-of-text', 'a tool that writes a million lines'),
  works('writes-20-gb-of-nothing', 'a tool that makes a file of 20 GB without contents'),
  works('writes-30000-files', 'a tool that writes 30,000 files'),
  works('writes-deep-folders', 'a tool that makes folders deeper than the longest path'),
  works('writes-odd-names', 'names of files with control characters and invalid UTF-8'),
  works('file-becomes-a-pipe', 'a tool that replaces its file by a named pipe', quick),
  works('file-becomes-a-folder', 'a tool that replaces its file by a folder'),
  works('leaves-a-pipe', 'a tool that leaves a named pipe'),
  works('links-out', 'links to /, to /etc/passwd, to a device and to a folder of the user', quick),
  works('work-becomes-a-link', 'a working directory that becomes a link to a folder of the user'),
  works('notes-become-a-link', 'a file that becomes a link to one of the user'),
  works('slot-becomes-a-link', 'a slot that becomes a link to a folder of the user'),
  works('hard-link-out', 'a database that becomes a second name of one of the user', { sameDisk: true }),
  works('changes-the-configuration', 'a server that writes another server into .mcp.json'),
  works('database-that-is-none', 'a file that only begins like a database of SQLite'),
  works('database-that-swells', 'a database of 8 KB whose rows have 200 MB each when they are read'),
  works('database-of-many-rows', 'a database of 200,000 rows'),
]

const secrets: readonly ServerMode[] = [
  works('secret-plain', 'secrets in results, errors and on standard error', quick),
  works('secret-json', 'secrets in JSON inside of JSON, as names and values'),
  works('secret-address', 'secrets in addresses'),
  works('secret-base64', 'secrets in base64 at each offset', quick),
  works('secret-hex', 'secrets as hexadecimal digits with and without separators'),
  works('secret-bytes', 'secrets as lists of bytes'),
  works('secret-lines', 'secrets and their base64 broken into lines'),
  works('secret-html', 'secrets in HTML'),
  works('secret-in-tools', 'secrets in names, descriptions and schemas of tools', {
    says: /its name holds a configured value/,
  }),
  works('secret-over-items', 'a secret cut into two content items'),
  refused('secret-at-the-start', 'secrets as the last words of a server that does not start', /stranger/),
  refused('secret-in-a-refusal', 'a secret in the error of initialize, where it is cut', /no no/),
  works('secret-in-last-words', 'a secret where the last words of a server are cut'),
  works('secret-in-files', 'secrets in names and contents of files'),
  works('secret-in-a-database', 'secrets in the rows of a database'),
]

const http: readonly ServerMode[] = [
  works('http-body-for-ever', 'over HTTP: an answer that never ends', { says: /look: /, ...quick }),
  works('http-body-20-mb', 'over HTTP: an answer of 20 MB', { says: /look: / }),
  works('http-body-million-items', 'over HTTP: an answer of a million items', { says: /look: / }),
  works('http-gzip-bomb', 'over HTTP: an answer of 400 MB that is compressed to 400 KB', { says: /look: / }),
  works('http-html', 'over HTTP: a page in place of an answer', { says: /look: / }),
  works('http-error-has-the-key', 'over HTTP: an error that repeats the key', { says: /look: / }),
  works('http-error-for-ever', 'over HTTP: an error that never ends', { says: /look: / }),
  works('http-events-of-garbage', 'over HTTP: events of broken JSON for ever', { says: /look: / }),
  works('http-events-of-comments', 'over HTTP: comments between events for ever', { says: /look: / }),
  works('http-event-for-ever', 'over HTTP: an event that never ends', { says: /look: / }),
  works('http-events-end-at-once', 'over HTTP: a stream that ends at once and asks to be read again', {
    says: /look: /,
  }),
  works('http-no-answer', 'over HTTP: a tool that is never answered', { says: /look: / }),
  works('http-cuts-the-answer', 'over HTTP: an answer that is cut off', { says: /look: / }),
  refused(
    'http-redirects',
    'over HTTP: a redirect to another address, which would get the key',
    /redirect|307/,
  ),
  refused('http-never-answers', 'over HTTP: no answer to anything', /no answer in 10 s/),
  refused(
    'http-asks-to-sign-in',
    'over HTTP: a refusal that repeats the key and names another address',
    /401|sign/i,
  ),
  refused('http-is-a-page', 'over HTTP: a web page at the address', /stranger/),
].map((mode) => ({ ...mode, http: true }))

/** All modes: those over standard streams, and those over HTTP. */
export const serverModes: readonly ServerMode[] = [
  ...listing,
  ...schemas,
  ...results,
  ...texts,
  ...protocol,
  ...processes,
  ...files,
  ...secrets,
  ...http,
]
