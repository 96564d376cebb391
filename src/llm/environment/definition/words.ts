import { hash32 } from '../../../engine/random/index.ts'

/** Parts of the word lists. They share no word. */
export type WordSplit = 'train' | 'validation' | 'test'

export interface WordLists {
  /** Plurals and collections, used as folder names. */
  groups: readonly string[]
  nouns: readonly string[]
  adjectives: readonly string[]
  /** Transitive verbs in the imperative. */
  verbs: readonly string[]
}

const list = (text: string): readonly string[] => text.trim().split(/\s+/)

const groups = list(`
recipes invoices letters photos sketches poems journals reports contracts receipts maps songs essays memos quotes
budgets drafts slides surveys tickets manuals menus diaries blueprints catalogs vouchers lectures lessons exams
speeches stories novels articles reviews interviews studies theories formulas samples experiments gardens orchards
kitchens workshops garages attics cellars barns studios offices libraries museums galleries theatres stadiums markets
bakeries harbours airports stations bridges tunnels castles villages islands rivers mountains valleys forests deserts
meadows clients partners neighbours cousins students teachers doctors farmers sailors painters singers dancers players
members guests visitors travel holidays birthdays weddings festivals concerts games puzzles hobbies sports races hikes
trips tours cruises camping cycling fishing cooking knitting pottery music science history physics chemistry finance
payroll taxes savings loans insurance pensions marketing shipping logistics storage inventory hardware tools machines
engines robots sensors cameras lenses drones vehicles trucks tractors bicycles furniture carpets curtains blankets
lamps candles dishes spices vegetables fruits cheeses breads soups desserts cocktails seeds flowers herbs trees birds
insects fishes horses puppies kittens fossils minerals crystals jewels coins stamps postcards antiques costumes
archive backlog wardrobe laundry pantry nursery clinic pharmacy orchestra choir council
agendas albums anthems badges ballads bands banknotes baskets beaches bottles boxes brochures bulletins cabins cakes
canals caves chapters checklists churches circuits classes comics committees couriers crafts crews deadlines debts
deliveries deposits designs detectives diagrams diplomas donations elections embassies envelopes estates events
expenses fabrics factories fairs farms ferries fleets forecasts forums fountains friends gadgets garments gifts goals
habits hotels houses jokes judges kingdoms laws leaders legends licences lists lyrics magazines meals medals meetings
mentors merchants minutes models motors movies mysteries nations nurses oceans offers opinions orders outfits parades
parcels parks parties passports patents patterns payments permits petitions pictures pilots pirates planets plans plays
pledges ponds ports portraits posters prizes programs projects proposals quizzes regions rehearsals remedies rentals
repairs requests rewards riddles rituals roads roles rooms routes rumours salaries schedules schools scripts seasons
shapes shelters shops signals sketchbooks skills solutions sounds sponsors squads statements stores streets subjects
suppliers symbols symphonies tariffs teams temples tenants themes toys trades traditions treaties tribes trophies
uniforms unions values ventures verdicts videos vineyards volumes votes wages warranties waters weapons wines winners
`)

const nouns = list(`
lantern kettle garden anchor violin pillow basket mirror ladder hammer pencil candle blanket bottle button camera
carpet chimney compass cottage cradle curtain cushion dagger diamond drawer engine feather fiddle fountain funnel
goblet guitar hammock harbour helmet island jacket jigsaw jungle kayak kennel kitten lagoon lemon lettuce locket
magnet marble meadow melon mitten monkey mountain mushroom napkin needle oyster paddle palace parrot peanut pebble
penguin pepper piano pigeon planet plum pocket pony poppy pumpkin puppet quilt rabbit radish raven ribbon river robin
rocket saddle salmon sandal satchel saucer scarf shovel shutter skillet sparrow spider spinach sponge spoon statue
stove sunset sweater syrup tablet teapot temple thimble thistle thunder ticket tiger timber tomato torch towel tractor
trumpet tulip tunnel turnip turtle umbrella vessel village vinegar wagon walnut walrus whistle willow window winter
wizard yogurt zebra acorn almond antler apron arrow avocado badger balcony balloon bamboo banjo banner barrel beacon
beaver beetle biscuit blossom boulder bracelet bramble broom bucket buffalo butter cabbage cactus canoe canyon
caravan carrot cashew cedar cellar chapel cherry chisel cinnamon clarinet clover cobweb coconut comet copper cricket
crimson crocus cucumber custard daisy dolphin donkey dragon dune eagle ember emerald falcon ferry flannel flask
flute fossil fox gazelle geyser ginger glacier goose granite grape gravel harp hazel hedge heron hinge honey hornet
iceberg igloo iris ivory jasmine jersey juniper kiwi lavender leopard lilac lizard llama lobster lotus mango maple
meteor mint moss muffin mustard nectar nutmeg oak oasis olive onion orchid otter owl panda papaya parsley peach
pelican petal pickle pine pistachio pretzel prism raisin reef rhubarb rosemary saffron sapphire seal shell sleigh
snail sorbet squirrel stork summit swan thyme toffee topaz trout tundra vanilla velvet violet waffle walkway waterfall
whale wheat wren zeppelin april june march august monday friday sunday tuesday morning evening
plumber carpenter dentist landlord grandmother uncle captain pilot baker tailor gardener nurse sheriff colonel
`)

const adjectives = list(`
amber ancient bitter blue bold brave bright brisk broken brown calm careful cheap cheerful clean clever cloudy cold
cosy crooked curly damp daring dark dusty eager early elegant empty faded famous fancy fast fierce final fluffy foggy
fragile fresh frozen fuzzy gentle giant glossy golden graceful green grey happy heavy hidden hollow humble icy jolly
lazy light little lively lonely loud lucky mellow merry mighty misty modern muddy narrow neat nervous noble noisy odd
orange orderly pale patient peaceful pink plain pleasant polished polite private proud purple quick quiet rainy rapid
rare ready red remote rough round royal rusty salty sandy scarlet secret shallow sharp shiny shy silent silver
simple sleepy slim slow smooth snowy soft solid sour spare spicy steady steep sticky stormy striped sturdy sunny sweet
swift tall tame tart tender thick thin tidy tiny tired urgent vacant vivid warm weekly wild windy wise wooden yearly
yellow young zesty brittle checkered creamy crisp dim drowsy durable dull festive flat fluent frosty grumpy handy
hearty honest juicy keen lean loyal minty moist nimble northern painted portable prickly quaint restless ripe roomy
rustic silky sincere slender southern sparkling spotted stale tangy timid tropical unusual upper useful western witty
`)

const verbs = list(`
polish repair collect deliver paint wash water feed sell buy borrow return measure weigh pack wrap order cancel
visit call invite thank remind hire train guide clean sweep dry fold iron sew knit bake roast grill boil slice peel
taste serve pour chill melt plant prune harvest pick dig rake mow burn light lock unlock close oil charge test
inspect photograph draw sketch carve sign stamp mail post ship track trade rent lend hang lift carry push pull
drag roll stack sort label hide bury catch rescue adopt brush groom walk race sail row tow park rinse scrub soak
stir whisk mash grate freeze thaw season salt toast fry steam decorate illuminate varnish sand glue nail drill saw
`)

const all: WordLists = unique({ groups, nouns, adjectives, verbs })

/** This salt divides each of the four lists close to the intended shares. */
const salt = 22

/** Returns the part of a word by its hash: 70% train, 12% validation, 18% test. */
export function splitOfWord(word: string): WordSplit {
  const share = hash32('word', salt, word) / 2 ** 32
  return share < 0.7 ? 'train' : share < 0.82 ? 'validation' : 'test'
}

/** Returns the words of one part: plain English for names and short texts of generated tasks. */
export function wordLists(split: WordSplit): WordLists {
  return lists[split]
}

const lists: Record<WordSplit, WordLists> = {
  train: pick('train'),
  validation: pick('validation'),
  test: pick('test'),
}

function pick(split: WordSplit): WordLists {
  const of = (words: readonly string[]): string[] => words.filter((word) => splitOfWord(word) === split)
  return {
    groups: of(all.groups),
    nouns: of(all.nouns),
    adjectives: of(all.adjectives),
    verbs: of(all.verbs),
  }
}

/** Keeps a word only in the first list that contains it, so that a name never reads as two kinds of word. */
function unique(given: WordLists): WordLists {
  const seen = new Set<string>()
  const of = (words: readonly string[]): string[] =>
    words.filter((word) => !seen.has(word) && seen.add(word) !== undefined)
  return {
    groups: of(given.groups),
    nouns: of(given.nouns),
    adjectives: of(given.adjectives),
    verbs: of(given.verbs),
  }
}
