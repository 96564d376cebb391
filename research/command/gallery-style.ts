/** Style of the gallery, light and dark, from 390 pixels. */
export const galleryStyle = `
:root { color-scheme: light dark; --ink: #1d2733; --soft: #5a6673; --line: #2a6fdb; --dot: #2a6fdb55; --page: #fff; --band: #e9edf2; --rule: #c3cad2 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --soft: #a3adb8; --line: #7fb0ff; --dot: #7fb0ff66; --page: #14181d; --band: #262d36; --rule: #4a545f }
}
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 960px; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
a { color: var(--line) }
section { border-top: 1px solid var(--rule); margin-top: 2.5rem }
h2 { font-size: 1.15rem; margin: 1.5rem 0 0.3rem } h3 { font-size: 0.9rem; margin: 1rem 0 0.2rem }
h2 span, .counts span { font-size: 0.8rem; font-weight: 600; padding: 0.1rem 0.55rem; border-radius: 1rem; color: #fff; white-space: nowrap }
.reproduced { background: #1a7f45 } .contradicted { background: #b3362b } .equivalent { background: #5b5fc7 } .underpowered { background: #8a6d1a } .invalid { background: #6b7280 }
.counts { list-style: none; padding: 0 } .counts li { margin: 0.3rem 0 }
.row { display: grid; grid-template-columns: 11rem 1fr 19rem; gap: 0 0.8rem; align-items: center; font-size: 0.85rem; margin: 0.15rem 0 }
.label { text-align: right } .track { width: 100%; height: 24px; display: block }
.band { fill: var(--band) } .zero { stroke: var(--soft); stroke-width: 1 } .interval { stroke: var(--line); stroke-width: 5; stroke-opacity: 0.5 }
.mean { stroke: var(--line); stroke-width: 2 } .effect { fill: var(--line) } .run { fill: var(--dot) }
.small { font-size: 0.85rem; color: var(--soft); margin: 0.25rem 0 } p.small { max-width: 50rem }
.checks { list-style: none; padding: 0; margin: 0; font-size: 0.85rem } .checks li { margin: 0.2rem 0 } .passed b { color: #1a7f45 } .failed b { color: #c8443a }
@media (prefers-color-scheme: dark) { .passed b { color: #56c786 } .failed b { color: #ff8a80 } }
@media (max-width: 700px) {
  .row { grid-template-columns: 1fr; margin: 0.5rem 0 } .label { text-align: left; font-weight: 600 }
}
`
