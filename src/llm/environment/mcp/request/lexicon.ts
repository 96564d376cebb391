/** A verb of tools with the verbs that people use for the same. */
export interface VerbEntry {
  /** In training. The verb itself comes first. */
  usual: readonly string[]
  /** Only in requests with unseen wording. */
  rare: readonly string[]
}

/**
 * Verbs that name what tools do. Synonyms were picked by hand, for use in a request. Behind the
 * bar: synonyms that training never uses.
 */
const verbText = `
create: make, add, set up | establish, produce
add: put in, enter, insert | append, note down
insert: add, put in | slot in
make: create, set up | produce
register: add, sign up | enlist
open: look at, look up | pull up
close: shut, end | wind up
delete: remove, take out, get rid of | erase, scrap
remove: delete, take out, get rid of | erase, scrap
drop: remove, delete | scrap
clear: empty, wipe | purge
update: change, edit, correct | revise, amend
edit: change, update | revise, amend
modify: change, update, edit | revise, amend
change: update, edit | alter
set: put, change | fix
rename: give a new name to | retitle
move: put, shift | relocate, transfer
copy: duplicate | clone
get: find out, look up, give me, tell me | fetch, retrieve
fetch: get, look up, give me | retrieve
retrieve: get, look up, give me | fetch
read: look at, show me, look up | peruse
show: display, give me, tell me | present
list: show me, give me, list up | enumerate
search: look through, go through | scour
find: look for, look up, search for | track down
query: look up, ask for | interrogate
count: count up, add up | tally
check: look at, test | inspect
validate: check, test | verify
verify: check, test | confirm
compute: work out, calculate, figure out | reckon
calculate: work out, compute, figure out | reckon
convert: change, turn | translate
translate: convert, render | transpose
format: lay out, tidy up | arrange
parse: read, take apart | decode
encode: code | encrypt
decode: read | decipher
compare: set side by side, check | contrast
sort: order, arrange | rank
send: pass on, post | dispatch
write: save, put, note | record
save: store, keep, write | record
store: save, keep | stash
append: add, attach | tack on
merge: join, combine | fuse
join: combine, merge | unite
split: divide, break up | separate
generate: make, create, produce | whip up
build: make, create | assemble
start: begin, launch | kick off
stop: end, halt | cease
run: carry out, execute | perform
execute: run, carry out | perform
complete: finish, tick off | wrap up
finish: complete, end | wrap up
assign: give, hand | allot
schedule: plan, set up | arrange
cancel: call off, drop | scrap
archive: put away, store | shelve
restore: bring back, put back | reinstate
increment: raise, increase | bump up
decrement: lower, reduce | bring down
upload: put up, send | transfer
download: get, fetch | pull down
click: press, hit | tap
type: enter, fill in | key in
navigate: go, browse | head
echo: repeat, say back | parrot
repeat: say again, echo | parrot
describe: tell me about, explain | outline
explain: describe, tell me about | outline
summarize: sum up, describe | outline
analyze: look into, study, examine | dissect
lint: check, look over | proofread
reset: clear, start over | wipe
toggle: switch, turn over | flip
enable: turn on, switch on | activate
disable: turn off, switch off | deactivate
lock: close, block | secure
unlock: open, free | release
subtract: take, take away | deduct
multiply: times | scale
divide: split | partition
round: round off | even out
tag: label, mark | flag
untag: unmark | unflag
rank: order, sort | grade
replace: change, swap | substitute
invite: ask in, add | summon
book: reserve, arrange | secure
reserve: book, keep | secure
link: connect, tie | hook up
connect: link, tie | hook up
think: reason, reflect | ponder
measure: work out, take | gauge
trigger: start, set off | kick off
simulate: act out, run | mimic
print: show, write out | output
compress: pack, zip | squeeze
extract: take out, get | pull out
pick: choose, select | single out
select: pick, choose | single out
put: place, add | deposit
take: get, pick | grab
return: give me, tell me | hand back
give: hand, tell | supply
estimate: work out, guess | reckon
say: tell, speak | utter
test: check, try | probe
process: handle, work on | treat
apply: use, put on | impose
use: apply, work with | employ
resolve: settle, work out | sort out
watch: follow, observe | monitor
post: send, put up | publish
publish: post, put out | issue
load: open, bring in | pull in
export: save, write out | dump
import: bring in, load | pull in
determine: work out, find out | establish
evaluate: work out, compute | assess
solve: work out, find | crack
draw: sketch, make | depict
render: draw, show | depict
mark: flag, set | label
expire: end | lapse
increase: raise | bump up
decrease: lower | bring down
push: add, put | shove
pop: take, remove | pluck
refresh: update, reload | renew
reverse: turn around, flip | invert
`

export const verbs: ReadonlyMap<string, VerbEntry> = new Map(
  verbText
    .trim()
    .split('\n')
    .map((line) => {
      const [verb, others] = line.split(': ')
      const [usual, rare = ''] = others.split(' | ')
      return [verb, { usual: [verb, ...usual.split(', ')], rare: rare.split(', ') }] as const
    }),
)

/** Verbs whose result is what is asked for: "get the weather" is "what is the weather". */
export const askingVerbs = new Set(
  'get fetch retrieve read show list find return query search look describe display print check calculate compute determine open give tell'.split(
    ' ',
  ),
)

/** Short forms that programs use, and the word that people say. Only those with one common meaning. */
export const longForms: Readonly<Record<string, string>> = {
  mul: 'multiply',
  div: 'divide',
  sub: 'subtract',
  mod: 'modulo',
  sqrt: 'square root',
  pow: 'power',
  abs: 'absolute value',
  avg: 'average',
  max: 'maximum',
  min: 'minimum',
  num: 'number',
  qty: 'quantity',
  desc: 'description',
  dir: 'folder',
  cfg: 'configuration',
  config: 'configuration',
  env: 'environment',
  del: 'delete',
  rm: 'remove',
  ls: 'list',
  mkdir: 'create directory',
  tz: 'time zone',
  timezone: 'time zone',
  timezones: 'time zones',
  db: 'database',
  msg: 'message',
  repo: 'repository',
  lang: 'language',
  addr: 'address',
  tel: 'phone',
  src: 'source',
  dst: 'destination',
  dest: 'destination',
  prev: 'previous',
  cmd: 'command',
  args: 'arguments',
  arg: 'argument',
  doc: 'document',
  docs: 'documents',
  info: 'information',
  uid: 'user id',
  expr: 'expression',
  str: 'text',
  string: 'text',
  int: 'number',
  filename: 'file name',
  filenames: 'file names',
  username: 'user name',
  dirname: 'folder name',
  datetime: 'date and time',
  timestamp: 'time stamp',
  img: 'image',
  cnt: 'count',
  idx: 'index',
  ttl: 'time to live',
}

/** Nouns that people use for the same thing. Behind the bar: only in requests with unseen wording. */
const nounText = `
folder: directory
directory: folder
file: document
email: mail address | e-mail
phone: phone number | telephone
task: to-do | job
todo: to-do, task | job
item: thing, entry | article
entry: item, record
record: entry, item
contact: person | acquaintance
user: person, member | account
message: text, note | line
note: remark, memo | jotting
tag: label | marker
category: group, class | sort
price: cost | rate
amount: sum, quantity | total
quantity: amount, number | total
title: name, heading | caption
label: tag, name | caption
description: text, summary | account
summary: short text, gist | digest
content: text | body
contents: text | body
status: state | standing
type: kind | sort
kind: type | sort
location: place | whereabouts
city: town | place
place: location | spot
deadline: due date | cut-off
priority: importance, urgency | rank
relation: link, connection | tie
relationship: link, connection | tie
entity: thing, item | object
observation: fact, remark | finding
query: words | phrase
result: outcome, answer | output
event: appointment | occasion
meeting: appointment | gathering
temperature: warmth | heat
condition: state | circumstances
conditions: state | circumstances
`

export const nouns: ReadonlyMap<string, VerbEntry> = new Map(
  nounText
    .trim()
    .split('\n')
    .map((line) => {
      const [noun, others] = line.split(': ')
      const [usual, rare = ''] = others.split(' | ')
      return [
        noun,
        { usual: [noun, ...usual.split(', ')], rare: rare === '' ? [] : rare.split(', ') },
      ] as const
    }),
)
