import type { Random } from '../../../engine/random/index.ts'

/**
 * Ordinary English words of the base corpus, written for this project. Copying must work for new words, so the lists are long,
 * and `pseudo-word.ts` adds an unlimited supply of invented ones.
 */
const list = (text: string): readonly string[] => [...new Set(text.trim().split(/\s+/))]

/** Nouns for places, items and topics. */
export const nouns = list(`
acorn agenda airport album almond anchor ankle antler anvil apple apricot apron arcade arch archive arena arrow
ash aspen atlas attic autumn avenue axle badge badger bagel bakery balcony ballad bamboo banana bandage banjo
banner barley barn barrel basin basket batch bath battery bay beach beacon bead beak bean bear beard beaver bed
beech beetle bell belt bench berry bicycle bill birch bird biscuit blade blanket blossom blouse blueprint board
boat bolt bone bonnet book boot border bottle boulder bow bowl bracelet branch brass bread breeze brick bridge
bronze brook broom broth brush bucket buckle budget buffalo bugle bulb bundle bus bush butter button cabbage
cabin cable cactus cake calendar camel camera camp canal candle candy cannon canoe canvas canyon cap cape captain
caravan carbon cardigan cargo carnival carpet carrot cart cashew castle cat catalog cave cedar ceiling cellar
cello cement cereal chain chair chalk channel chapel chapter charcoal chart cheese cherry chess chest chestnut
chicken chimney chisel chocolate choir chord cider cinema cinnamon circle circus citrus city clamp clarinet clay
cliff clinic cloak clock cloth cloud clover coach coal coast coat cobweb cocoa coconut coffee coin collar colony
comet compass concert cone contract copper coral cord cork corn corner cottage cotton couch council counter
coupon cousin cove cow crab cradle crane crater crayon cream creek crew cricket crocus crop crow crown crystal
cup cupboard curtain cushion custard cycle cymbal daisy dance dawn deck deer delta desert desk dessert diamond
diary dinner dock doctor dog doll dolphin domino donkey door dough dove dragon drain drawing dress drill drum
duck dune dust eagle ear earth eel egg elbow elm ember emerald engine envelope evening exam fabric factory
falcon farm feast feather fence fern ferry fiddle field fig finch finger fire fish flag flame flask flint flock
flood floor flour flower flute foam fog forest fork fossil fountain fox frame freight frog frost fruit funnel
galaxy gallery garage garden garlic garnet gate gauge gazette gear gem geyser ginger giraffe glacier glass globe
glove glue goat gold goose gorge grain granite grape graph grass gravel grove guide guitar gull gutter hail
hammer hammock harbor hare harp harvest hat hawk hay hazel heart heather hedge helmet hemp herb herd heron hill
hinge hive holiday honey hood hook horizon horn horse hose hotel house hunt hut ice iceberg inch ink inlet insect
invoice iris iron island ivory ivy jacket jade jam jar jasmine jelly jewel journal journey jug juice jungle
juniper kayak kennel kettle key keyboard kiln king kitchen kite kitten knee knife knot label lace ladder lady
lagoon lake lamb lamp lantern lark laser lasso latch laundry lava lavender lawn leaf leather lecture ledge legend
lemon lens letter lettuce level lever library lid lighthouse lilac lily lime linen lion lizard loaf lobster lock
lodge log loom lotus lunch lute lynx machine magnet mango manor map maple marble margin market marsh mask mast
match meadow meal medal melody melon memo menu metal meteor midnight milk mill mint mirror mist mitten moat model
mole monkey monsoon moon moose morning mosaic moss moth motor mountain mouse mud muffin mural museum mushroom
music mustard nail napkin necklace needle nest net nettle night noodle noon north nut nutmeg oak oar oasis oat
ocean octopus office oil olive onion opal opera orange orbit orchard orchid organ otter oven owl oyster paddle
page paint palace palm pan pansy pantry paper parade parcel park parrot party pasta paste pasture patch path
patio pavement payment pea peach peacock peak peanut pear pearl pebble pelican pen pencil penguin pepper perch
petal phone photo piano pickle picnic pie pig pigeon pillow pilot pine pipe pirate pitch pizza planet plank plant
plate platform plaza plow plum pocket poem polar pond pony poppy porch port portrait postcard pot potato pottery
powder prairie prism prize program project puddle pulley pump pumpkin puppet puppy purse puzzle quail quarry
quartz queen quill quilt quiver rabbit raccoon radio radish raft rail rain raisin ranch raven razor receipt
recipe record reed reef region report reservoir resort rhythm ribbon rice ridge ring river road robin robot rock
rocket roof room root rope rose route ruby rug ruler rye saddle saffron sail salad salmon salt sand sandal sapphire
satin sauce saucer scale scarf scene schedule school science scissors scooter scout screen screw sea seal season
seed shadow shark sheep shell shelter shield ship shirt shoe shore shovel shower shrimp signal silk silver siren
sketch skirt sky slate sled sleeve slope smoke snail snow soap soil soup spade sparrow spice spider spinach spoon
spring spruce square squash squid squirrel stable stadium stage stamp star station statue steam steel stem stew
stick stone stool storm stove straw stream street string studio sugar summer summit sun surf swan sweater swing
sword syrup table tail tailor talent tango tank tape target tavern tea team temple tennis tent terrace theater
thimble thistle thorn thread throne thunder ticket tide tiger tile timber tin toast tomato tooth topaz torch
tortoise totem towel tower town toy track tractor trail train trap tray treasure tree trench triangle tribe
trophy trout truck trumpet trunk tulip tuna tundra tunnel turkey turnip turtle twig umbrella uncle valley valve
vanilla vase velvet vest village vine vinegar violet violin voyage wagon waist walnut walrus waltz warehouse wasp
water wave wax weasel weather web wedding wheat wheel whistle willow wind window wine wing winter wire wolf wood
wool worm wreath yard yarn yogurt zebra zinc zone`)

/** Adjectives, also used in names. */
export const adjectives = list(`
able active amber ancient annual autumnal average azure bald basic bent bitter blank blond blue blunt bold brave
brief bright brisk broad broken brown busy calm careful central cheap cheerful chief chilly clean clear clever
close cloudy coarse cold common complete cool correct cosy cozy crisp crooked cruel curious curly daily damp dark
deaf dear deep dense different dim direct dirty distant double dry dull dusty eager early eastern easy elegant
empty equal even exact extra faint fair faithful famous fancy fast fierce final fine firm first flat fluffy
foggy formal former fragile free fresh friendly frozen full funny future fuzzy gentle giant glad golden good
grand grateful gray great green grey handy happy hard harsh heavy helpful hidden high hollow honest hot huge
humble hungry icy idle important indigo inner jolly joint keen kind large last late lazy lean left light little
local lonely long loose loud lovely low loyal lucky main major mellow merry mild minor misty mobile modern
modest monthly muddy narrow native near neat new nice noble noisy normal northern novel odd old open ordinary
outer pale parallel past patient plain pleasant polite poor popular pretty previous private proper proud public
pure purple quick quiet rapid rare raw ready real recent red regular rich right rigid ripe rough round royal
rural rusty safe salty second secret sharp shiny short shy silent simple single slim slow small smart smooth
soft solar solid sour southern spare special spicy square stale steady steep stiff still strange strict strong
sturdy sudden sunny super sweet swift tall tame tart tender thick thin third tidy tiny tired total tough tropical
twin ugly upper urban urgent useful usual vacant vague vast vivid warm weak weekly western wet white whole wide
wild windy wise wooden young yellow yearly`)

/** Verbs in their base form. */
export const verbs = list(`
accept add admire agree allow announce answer appear arrange arrive ask attach avoid bake balance become begin
believe bend blend boil borrow bounce breathe bring brush build burn buy call carry carve catch celebrate change
chase check choose clap clean climb close collect color combine compare connect cook copy count cover create
cross cut dance decide deliver describe design dig divide draw dream drift drink drive drop earn eat edit empty
enjoy enter examine explain explore fasten feed fetch fill find finish fit fix float fly fold follow forget
gather give glue greet grind grow guard guess guide handle hang happen harvest hear heat help hide hold hope
hurry imagine improve invite join jump keep kick knit know laugh lead learn leave lend lift listen live load
look lose love mail make mark measure meet melt mend mention mix move name notice obey offer open order own pack
paint pass pay pick plan plant play point polish pour practice prepare press print promise protect pull push put
raise reach read receive relax remember remove rename repair repeat replace reply rescue rest return ride rinse
roll row run sail save say scatter scrub search sell send serve sew shake share sharpen shine shout show sing
sit sketch sleep slide smile solve sort speak spend spin split spread stand start stay steer stir stop store
study sweep swim take talk taste teach tell test thank think throw tie touch trace trade travel trim trust try
turn twist type unlock unpack use visit wait wake walk warn wash watch wear weave weigh welcome whisper win wipe
wonder work wrap write yawn`)

/** First names, surnames, towns, months, days. */
export const names = list(`
Ada Adam Agnes Alan Alice Amara Amir Anna Anton Arthur Astrid Bella Ben Bruno Carla Carmen Cecil Chloe Clara
Daniel Daria David Diego Dora Edith Elena Elias Elsa Emil Emma Erik Esther Eva Farid Felix Fiona Flora Frank Freya
Gemma George Greta Hana Hannah Hassan Hugo Ida Igor Ines Ivan Jack Jana Jasper Jonas Julia Kamal Karin Kenji Kira
Lars Laura Leila Leo Lena Lina Louis Lucas Luna Maria Marco Marta Max Mei Mila Milo Mina Mona Nadia Nils Nina Noah
Nora Omar Oscar Otto Paula Pedro Petra Priya Rafael Rosa Ruth Sami Sara Sofia Sonia Stefan Tara Theo Thomas Tina
Uma Vera Victor Wanda Yara Yusuf Zara Zoe Abbott Baker Carter Dalton Ellis Foster Grant Hughes Jensen Keller
Larsen Morgan Norton Parker Quinn Reyes Sato Turner Vance Weber Young Zimmer Berlin Bergen Cairo Cork Delhi Dover
Geneva Hanoi Kyoto Lagos Lima Lisbon Lyon Madrid Milan Nairobi Naples Oslo Paris Porto Prague Quito Riga Rome
Seoul Sofia Tallinn Tunis Turin Vienna Warsaw Zurich January February March April May June July August September
October November December Monday Tuesday Wednesday Thursday Friday Saturday Sunday`)

/** Endings of names. */
export const endings = [
  'txt',
  'md',
  'csv',
  'json',
  'log',
  'txt',
  'md',
  'csv',
  'yaml',
  'html',
  'cfg',
  'dat',
  'xml',
]

/** Words of everyday requests, for the tokenizer and the embeddings. Used only in plain sentences. */
export const requestWords = list(`
file folder directory read write create rename move copy list count contents content find named called inside
then otherwise exists exist missing replace text line lines document subfolder within search open show tell many
how what which where there put save add change edit into under from with instead both all every each only first
last next second number total result answer path name place it that this them done yes no not found made moved
written changed whether whatever says contain contains containing holds reads word words words new old same other
another also after before and but or if else when please could would you me my the a an is are be do does did done
of to in on at by for as has have its them they there their here any some just exactly one two three four five six
seven eight nine ten zero none single empty directories files folders paths names exact reply report say make
anything something nothing matching match matches located keep leave untouched already already directly elsewhere`)

/**
 * Tools of the servers that models are later trained and evaluated on. The corpus must not contain them, so a random name that
 * equals one is drawn again.
 */
const reserved = new Set(
  `read_text_file read_file read_media_file read_multiple_files write_file edit_file create_directory list_directory
list_directory_with_sizes directory_tree move_file search_files get_file_info list_allowed_directories
create_entities create_relations add_observations delete_entities delete_observations delete_relations read_graph
search_nodes open_nodes echo get-annotated-message get-env get-resource-links get-resource-reference get-roots-list
get-structured-content get-sum get-tiny-image gzip-file-as-resource toggle-simulated-logging
toggle-subscriber-updates trigger-elicitation-request trigger-elicitation-request-async
trigger-long-running-operation trigger-sampling-request trigger-sampling-request-async trigger-url-elicitation
simulate-research-query`
    .split(/\s+/)
    .map(normalised),
)

function normalised(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** True if a name equals one of these tools up to capitals and separators. */
export const isReservedName = (name: string): boolean => reserved.has(normalised(name))

const onsets =
  'b c d f g h j k l m n p r s t v w z bl br ch cl cr dr fl fr gl gr pl pr qu sh sk sl sm sn sp st th tr tw'.split(
    ' ',
  )
const vowels = 'a e i o u a e i o u ai ea ee oo ou ie oa y'.split(' ')
const codas = 'b d g k l m n p r s t x ck ft ld lk lt mp nd ng nk nt rd rk rm rn rt sh sk st th ve ze'.split(
  ' ',
)

/** A pronounceable lower-case word of one to three syllables that is in no list ("brintel", "quoma", "sheck"). */
export function pseudoWord(random: Random): string {
  const draw = random.next()
  const syllables = draw < 0.4 ? 1 : draw < 0.92 ? 2 : 3
  let word = ''
  for (let i = 0; i < syllables; i += 1) {
    if (i > 0 || random.next() < 0.85) word += onsets[random.int(onsets.length)]
    word += vowels[random.int(vowels.length)]
    if (i === syllables - 1 ? random.next() < 0.7 : random.next() < 0.2)
      word += codas[random.int(codas.length)]
  }
  return word.length < 3 ? word + onsets[random.int(18)] + vowels[random.int(10)] : word
}
