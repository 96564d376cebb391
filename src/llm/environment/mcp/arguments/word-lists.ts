// Everyday words for arguments and records, one list a topic. No word is in two lists.

/** Things. English words that WordNet has as nouns. */
export const nouns =
  'river stone harbor lantern meadow orchard copper violin kettle saddle marble thunder willow anchor barley beacon bishop ' +
  'blanket blossom bottle branch bridge bronze bucket button cabin candle canyon carpet castle cedar chapel cherry chimney cliff ' +
  'clover cobalt comet coral cotton cradle crystal dagger desert diamond dolphin dragon eagle ember engine falcon feather fern ' +
  'fiddle finch flint forest fountain fox garden garlic ginger glacier goblet granite grape gravel hammer hazel hedge heron hill ' +
  'honey hornet island ivory ivy jacket jaguar jasmine jewel kernel kestrel kitten ladder lagoon lake lemon leopard lily linen ' +
  'lion lizard lobster locket lotus magnet mango maple market mask melon mill mint mirror moon moss mountain museum needle nest ' +
  'nickel oak oasis ocean olive onion opal orange otter owl oyster paddle palace panther paper parrot pasture peach pearl pebble ' +
  'pelican pepper piano pigeon pillar pillow pine pirate planet plum pocket pony poppy porch prairie prism pumpkin puzzle quail ' +
  'quarry quartz quill rabbit radio raft rain raven reef ribbon ring robin rocket rope rose ruby sail salmon sand sapphire scarf ' +
  'shadow shell shepherd ship silk silver sketch slate snail snow spark sparrow spice spider spring squirrel star statue steam ' +
  'storm stream sugar summit sunset swan sword table temple thistle tiger timber torch tower trail train tulip tunnel turtle ' +
  'valley vase velvet vessel village vine walnut walrus water wave wheat wheel whistle window wing winter wolf wren yarn zebra ' +
  'quiet bright narrow golden hollow gentle rapid silent rusty polished crooked frozen ancient humble clever brave broken calm ' +
  'cheap clean cold cosy curly damp dark deep dense dry dusty early eager empty faint fancy fierce firm flat fresh green grey ' +
  'happy heavy honest huge icy jolly keen large late lazy light little lively lonely long loose loud lucky mild modern muddy ' +
  'neat noble odd old pale plain proud pure quick rare rich ripe rough round royal sharp shiny short shy simple sleepy slim slow ' +
  'small smart smooth soft solid sour spare steady steep stiff strong sunny sweet swift tall tame thick thin tidy tiny tough ' +
  'vast warm weak wet white wide wild wise young Lisbon Oslo Vienna Prague Dublin Madrid Athens Warsaw Helsinki Porto Geneva ' +
  'Milan Turin Naples Lyon Bergen Ghent Krakow Seville Munich Hamburg Zurich Boston Denver Dallas Austin Seattle Toronto ' +
  'Montreal Lima Quito Santiago Cairo Tunis Nairobi Accra Dakar Osaka Kyoto Seoul Hanoi Manila Jakarta Delhi Mumbai Perth Sydney ' +
  'Auckland apron apple armchair arrow atlas attic axe badge bagel bakery balcony ball balloon bamboo banana banjo banner basin ' +
  'basket bat bath battery bay beach bead bean bear beaver bed bee beech beetle bell belt bench berry bicycle bike birch bird ' +
  'biscuit bison blade boat book boot bowl box bracelet bread breeze brick broom brush buffalo bull bus butter butterfly cabbage ' +
  'cabinet cable cactus cafe cage cake camel camera camp canal canoe cap cape cardigan carrot cart carton cat cave ceiling ' +
  'cellar cello chain chair chalk cheese chess chestnut chicken chisel cinema circle clarinet clay clock closet cloth cloud ' +
  'coach coast coat cocoa coconut coffee coin collar compass cookie cork corn corner couch cow crab crane crate cream creek ' +
  'cricket crow crown cucumber cup cupboard curtain cushion dairy daisy deer delta desk dew diary dish dock doll donkey door ' +
  'dove drawer dress drum duck dune easel eel elbow elephant elm envelope eraser fabric fan farm faucet fence ferry field fig ' +
  'film fish flag flame flask fleet flour flower flute fog folder fork fort frame frog fruit furnace galaxy gallery garage gate ' +
  'geyser giraffe glass globe glove goat goose gown grass grove guitar gull gym hail hall hammock hamster handle hare harp hat ' +
  'hawk hay heart heater helmet hive hoof hook horizon horse hose hotel house iguana iris iron jam jar jeans jelly jewelry juice ' +
  'jug jungle kayak kite kiwi knife knot koala lab lace lamb lamp lane laptop lark laundry lava lawn leaf leather lens lettuce ' +
  'lid lime llama lock loft log lynx magpie maid mailbox mammal mandolin mane mansion mantle map mast mat mattress maze meal ' +
  'medal megaphone melody menu mermaid metal meteor microscope milk mirage mitten mole monkey moose mop mosaic moth motor mouse ' +
  'mud mug muffin mule mushroom mussel napkin nectar net newspaper night noodle notebook nut oar oat octopus office omelet ' +
  'orchid organ ostrich oven ox package paint pan pancake panda pansy park parsley pasta path pea pear pen pencil penguin petal ' +
  'phone photo piccolo picnic pie pig pin pipe pitcher pizza plate plough pocketbook pond pool porcupine port postcard poster ' +
  'pot potato pottery powder prawn pudding puddle pump puppet puppy purse quiche quilt raccoon rack radish rail rainbow raisin ' +
  'rake ranch raspberry razor recipe reed refrigerator reindeer rice rink road robe rock roof room root rug ruler saddlebag ' +
  'salad salt sandal sandwich satchel sauce saucer sausage saw saxophone scale school scissors scooter screen screw sea seal ' +
  'seat seed shark sheep shelf shelter shirt shoe shop shovel shrimp shrub sidewalk sink skate ski skirt sky slipper sloth smoke ' +
  'soap sock sofa soil soup spade spinach sponge spoon stable stadium stage stairs stamp stapler station stew stick stool store ' +
  'stork stove straw strawberry street string studio suitcase sun sweater swing syrup tablet tail tape tapestry tart taxi tea ' +
  'teapot tent terrace theatre thread throne tile tin toad toast tomato tongs tool topaz towel toy tractor tray tree trolley ' +
  'trombone trophy trout truck trumpet trunk tub tuba tuna tundra turkey turnip tusk tyre umbrella van vault veil vest violet ' +
  'volcano wagon wall wallet ward wardrobe wasp watch watermelon weasel well whale wharf whisk wine wire wool workshop yacht yak ' +
  'yard yogurt zipper'

/** How things are. WordNet has them as adjectives. */
export const traits =
  'quiet bright narrow golden hollow gentle rapid silent rusty polished crooked frozen ancient humble clever brave broken calm ' +
  'cheap clean cold cosy curly damp dark deep dense dry dusty early eager empty faint fancy fierce firm flat fresh green grey ' +
  'happy heavy honest huge icy jolly keen large late lazy light little lively lonely long loose loud lucky mild modern muddy ' +
  'neat noble odd old pale plain proud pure quick rare rich ripe rough round royal sharp shiny short shy simple sleepy slim slow ' +
  'small smart smooth soft solid sour spare steady steep stiff strong sunny sweet swift tall tame thick thin tidy tiny tough ' +
  'vast warm weak wet white wide wild wise young Lisbon Oslo Vienna Prague Dublin Madrid Athens Warsaw Helsinki Porto Geneva ' +
  'Milan Turin Naples Lyon Bergen Ghent Krakow Seville Munich Hamburg Zurich Boston Denver Dallas Austin Seattle Toronto ' +
  'Montreal Lima Quito Santiago Cairo Tunis Nairobi Accra Dakar Osaka Kyoto Seoul Hanoi Manila Jakarta Delhi Mumbai Perth Sydney ' +
  'Auckland able active aged agile alert alive ample ancestral artful aware bare basic bent better big bitter bland blank bold ' +
  'bouncy brisk bulky busy careful cheerful chilly chubby civil clear close cloudy coarse colourful comfy common cool crisp cute ' +
  'daily dainty damaged dear decent deft delicate dim distant dizzy double dotted dreamy drowsy dull easy elegant elder endless ' +
  'even exact extra fair faithful famous far fast fat faded fine fixed fluffy foggy foreign formal fragile free frosty full ' +
  'fuzzy giant gifted glad gloomy glossy graceful grand grateful great gritty hairy half handy hard harsh helpful hidden high ' +
  'hot humid hungry ideal idle inner innocent intact joint juicy jumbo just kind known lame lasting lean leafy left level ' +
  'lonesome lost low loyal lukewarm magic main major married mature mellow merry messy mighty minor misty mixed moist mossy mute ' +
  'mysterious naive native natural nearby new nimble noisy normal nutty oily open orderly ordinary outer oval painted patient ' +
  'peaceful perfect petite playful pleasant plump poor portable precious pretty prime private prompt public puffy quaint rainy ' +
  'rapt raw ready real recent regular remote right rosy ruddy sacred safe salty sandy sane scarce secret serene shady shaggy ' +
  'shallow silky silly single skinny sleek slippery smoky smug snowy snug social solar sole sore sparse special spicy spotless ' +
  'square stale stern sticky stormy stout striped sturdy subtle sudden sunlit super sure tacky talkative tender tepid tense ' +
  'tight timid tired total tranquil trim true twin unique untidy upper urban usual vague vacant valid velvety vivid wary wavy ' +
  'wealthy weekly wicked windy witty wooden woolly worn worthy yearly zesty'

/** Cities. */
export const cities =
  'Lisbon Oslo Vienna Prague Dublin Madrid Athens Warsaw Helsinki Porto Geneva Milan Turin Naples Lyon Bergen Ghent Krakow ' +
  'Seville Munich Hamburg Zurich Boston Denver Dallas Austin Seattle Toronto Montreal Lima Quito Santiago Cairo Tunis Nairobi ' +
  'Accra Dakar Osaka Kyoto Seoul Hanoi Manila Jakarta Delhi Mumbai Perth Sydney Auckland Amsterdam Ankara Antwerp Baltimore ' +
  'Bangkok Barcelona Basel Beirut Belfast Belgrade Berlin Bilbao Bologna Bordeaux Bratislava Bremen Brisbane Bristol Bruges ' +
  'Brussels Bucharest Budapest Calgary Cardiff Casablanca Chennai Chicago Cologne Copenhagen Cusco Dhaka Doha Dresden Dubai ' +
  'Durban Edinburgh Florence Frankfurt Gdansk Genoa Glasgow Gothenburg Granada Graz Halifax Havana Hobart Houston Istanbul ' +
  'Karachi Lagos Lausanne Leeds Leipzig Liverpool Ljubljana London Luxembourg Malaga Malmo Manchester Marseille Memphis Miami ' +
  'Minsk Montevideo Nagoya Nantes Odessa Ottawa Palermo Panama Paris Philadelphia Phoenix Portland Rabat Reykjavik Riga Rome ' +
  'Rotterdam Salzburg Sapporo Sarajevo Singapore Stockholm Stuttgart Taipei Tallinn Tampere Tokyo Toulouse Trieste Utrecht ' +
  'Valencia Vancouver Venice Verona Vilnius Wellington Winnipeg Zagreb'

/** First names. */
export const people =
  'Ada Alan Alice Amir Anna Anton Aria Arjun Astrid Ben Bianca Bruno Carla Carlos Chloe Clara Daniel Diego Dora Edith Elena ' +
  'Elias Emil Emma Erik Esther Eva Farah Felix Fiona Frida Gabriel Grace Greta Hana Hannah Hector Henry Hugo Ida Igor Ines ' +
  'Ingrid Isaac Ivan Jana Jonas Julia Kai Karim Kenji Laila Lars Laura Leo Lena Liam Lina Louis Lucia Luna Maja Marco Maria ' +
  'Marta Max Mei Mila Mina Nadia Nina Noah Nora Olga Oliver Omar Oscar Paul Pedro Petra Priya Rafael Ravi Rita Rosa Samir Sara ' +
  'Silas Sofia Stella Sven Tara Theo Thomas Tom Uma Vera Victor Viola Walter Yara Yuki Zara Zoe Adam Agnes Aisha Albert Alma ' +
  'Amelia Andrei Angela Anita Arthur Ayla Basil Bella Bernard Boris Camila Cecilia Charles Clement Conrad Cyrus Dalia David ' +
  'Delia Dmitri Dominic Edgar Edwin Eleanor Ella Emily Enzo Erica Ernest Eugene Evelyn Fatima Flora Francis Frank George Gerda ' +
  'Gloria Gustav Harold Harriet Harvey Hiro Howard Ibrahim Isabel Jack Jacob James Jasper Joan Joel Johan Josef Judith Kamal ' +
  'Karin Kate Klaus Lara Leila Leon Lewis Lorenzo Lucas Lydia Mabel Magnus Manuel Margot Marie Martin Mateo Matilda Maya Michael ' +
  'Miguel Miriam Mona Morgan Naomi Natalia Nathan Nelson Niklas Nils Noel Odette Olivia Otto Pascal Patrick Pauline Philip ' +
  'Quentin Rachel Ralph Ramona Raymond Rebecca Renata Robert Roland Roman Ronja Ruben Ruth Salma Samuel Sandra Sebastian Selma ' +
  'Simon Sophie Stefan Susan Sylvia Tamara Teresa Thea Tobias Ulrich Ursula Valentina Vincent Wanda Wilma Xenia Yusuf Zelda'

/** Kinds of things, for types and categories. */
export const sorts =
  'person place company event project team animal plant building product document meeting website device vehicle idea hobby ' +
  'sport language food song game department country machine customer supplier colleague friend teacher doctor engineer artist ' +
  'writer author singer farmer student manager service brand contract order invoice ticket task goal topic lesson course journey ' +
  'holiday festival concert competition club community charity university library hospital airport factory warehouse restaurant ' +
  'institute agency magazine article report survey experiment theory method software database programme network platform account ' +
  'budget policy rule habit skill memory'

/** IANA time zones. */
export const zones =
  'Africa/Cairo Africa/Lagos Africa/Nairobi America/Bogota America/Chicago America/Denver America/Lima America/New_York ' +
  'America/Santiago America/Toronto Asia/Bangkok Asia/Dubai Asia/Hong_Kong Asia/Jakarta Asia/Karachi Asia/Kolkata Asia/Manila ' +
  'Asia/Seoul Asia/Shanghai Asia/Singapore Asia/Tehran Asia/Tokyo Australia/Perth Australia/Sydney Europe/Athens Europe/Berlin ' +
  'Europe/Helsinki Europe/Lisbon Europe/London Europe/Madrid Europe/Moscow Europe/Oslo Europe/Paris Europe/Rome Europe/Vienna ' +
  'Pacific/Auckland Pacific/Honolulu UTC'
