// The shop in the browser: a basket, a gallery that the arrow keys turn, an answer to an order, and how it is displayed.
const basket = document.querySelector('#basket')
for (const button of document.querySelectorAll('[data-add]'))
  button.addEventListener('click', () => {
    basket.textContent = String(Number(basket.textContent) + 1)
  })

const picture = document.querySelector('#picture')
let shown = 1
document.addEventListener('keydown', ({ key }) => {
  if (picture === null || !['ArrowLeft', 'ArrowRight'].includes(key)) return
  shown = ((shown + (key === 'ArrowRight' ? 0 : 3)) % 5) + 1
  picture.textContent = `Picture ${shown} of 5`
})

document.querySelector('form')?.addEventListener('submit', (event) => {
  event.preventDefault()
  const entered = (name) => document.querySelector(`[name=${name}]`).value
  document.querySelector('#answer').textContent =
    `Thank you, ${entered('name')} of ${entered('city')}: one ${entered('product')}`
})

const display = document.createElement('p')
const preferences = [
  ['(prefers-color-scheme: dark)', 'dark colours', 'light colours'],
  ['(prefers-reduced-motion: reduce)', 'no animation', 'animation'],
  ['(prefers-contrast: more)', 'high contrast', 'usual contrast'],
].map(([query, yes, no]) => ({ query: matchMedia(query), yes, no }))
const show = () => {
  display.textContent = `Display: ${preferences.map(({ query, yes, no }) => (query.matches ? yes : no)).join(', ')}`
}
for (const { query } of preferences) query.addEventListener('change', show)
show()
document.querySelector('h1').after(display)
