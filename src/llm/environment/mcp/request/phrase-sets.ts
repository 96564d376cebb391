/** Phrases of which requests are composed. */
export interface PhraseSet {
  /** Before an imperative. */
  openers: readonly string[]
  /** Before a noun phrase or a clause that is asked for. */
  asks: readonly string[]
  /** Only before a noun phrase. */
  nounAsks: readonly string[]
  /** Before a noun phrase, inside a sentence that began with an imperative. */
  tells: readonly string[]
  /** Before a question turned into a clause: "can you tell me". */
  joints: readonly string[]
  links: readonly string[]
  ends: readonly string[]
  declared: Readonly<Record<'adds' | 'removes' | 'changes', readonly string[]>>
}

/** Those that training, validation and test use. */
export const familiar: PhraseSet = {
  openers: [
    '',
    '',
    '',
    'please ',
    'can you ',
    'could you ',
    'i want you to ',
    'i need you to ',
    'would you ',
    'now ',
    'you should ',
    'help me: ',
    'please go and ',
    'the next job: ',
    'i would like you to ',
    'it is time to ',
  ],
  asks: [
    'tell me ',
    'i want to know ',
    'find out ',
    'can you tell me ',
    'do you know ',
    'i need to know ',
    'could you tell me ',
    'i would like to know ',
    'please find out ',
    'let me know ',
    'please tell me ',
  ],
  nounAsks: ['give me ', 'i need ', 'please give me ', 'look up ', 'can you give me '],
  tells: ['tell me ', 'give me ', 'answer with ', 'say ', 'report ', 'let me know ', 'write down '],
  joints: [' and ', ', then ', ' and then ', '. Then ', '; after that ', '. After that, ', ', and '],
  links: ['the result', 'that result', 'what it gave', 'what came out'],
  ends: ['', '', '', '', ', please', '. Thank you', ' and tell me when it is done', '. That is all'],
  declared: {
    adds: [
      'there should be {a}',
      'we need {a}',
      'i want to have {a}',
      '{a} is missing, please {verb} it',
      'i need {a}',
      'we should have {a}',
    ],
    removes: [
      '{the} is no longer needed, {verb} it',
      'i do not need {the} any more, so {verb} it',
      '{the} should be {done}',
      '{the} must go, please {verb} it',
      'we have no more use for {the}, {verb} it',
      'i want {the} to be {done}',
    ],
    changes: [
      'make sure to {do}',
      'see to it that you {do}',
      'something is out of date: {do}',
      'there is a change: {do}',
    ],
  },
}

/** Templates that training never uses. */
export const unseen: PhraseSet = {
  openers: ['kindly ', 'be so good as to ', 'your assignment is to ', 'go ahead and ', 'would you mind: '],
  asks: ['enlighten me on ', 'i am curious about ', 'would you happen to know '],
  nounAsks: ['kindly inform me of ', 'would you happen to have ', 'i could use '],
  tells: ['quote ', 'relay ', 'pass along '],
  joints: [', next ', '; once finished, ', ' before you ', ', followed by: '],
  links: ['its output', 'whatever came back'],
  ends: ['', ', if you do not mind', '. Thanks in advance', ' whenever convenient'],
  declared: {
    adds: ['from now on {a} ought to exist', 'somebody forgot {a}, {verb} it', 'our collection lacks {a}'],
    removes: [
      '{the} has had its day, {verb} it',
      'nobody wants {the} around, {verb} it',
      '{the} ought to vanish',
    ],
    changes: ['kindly see about this: {do}', 'an adjustment is due: {do}'],
  },
}
