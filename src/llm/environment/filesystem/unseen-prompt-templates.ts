import type { FilesystemKind } from './prompt-templates.ts'

/**
 * Wordings written by hand and kept apart from the grammar: each uses words that no training wording of its kind
 * has. They show what is left when the user speaks freely, and are reported but never trained on.
 */
export const unseenPromptTemplates: Record<FilesystemKind, readonly string[]> = {
  read: [
    'Could I see the wording inside <file>',
    'I would like a quick peek at <file>, what message does it hold',
    'Recite <file> for me',
    'Print out <file>',
  ],
  write: [
    'Jot down "<text>" as <file>',
    'Store the sentence "<text>" under <file>',
    'A fresh document <file> ought to hold "<text>"',
    'Record "<text>" at <file>',
  ],
  edit: [
    'Swap "<old>" for "<new>" inside <file>',
    'There is a mistake in <file>: "<old>" was meant to read "<new>"',
    'Substitute "<new>" wherever <file> has "<old>"',
    'Turn "<old>" into "<new>" within <file>',
  ],
  'make-folder': [
    'Set up an empty directory <folder>',
    'Let us have a directory <folder>',
    'Under <parent> we could use another directory, <name>',
    'Start a directory <folder> for me',
  ],
  move: [
    'Relocate <file> to <to>',
    'Transfer <file> over to <to>',
    'Would you drop <file> into <to>',
    'File away <file> under <to>',
  ],
  rename: [
    'From now on <file> goes by <new>',
    'Label <file> as <new> instead',
    'Retitle <file>, its title becomes <new>',
    'Switch the filename of <file> over to <new>',
  ],
  count: [
    'What quantity of documents does <folder> hold',
    'Work out the total amount of documents within <folder>',
    'Say how many documents <folder> holds, as a figure',
    'Tally the documents of <folder>',
  ],
  find: [
    'I misplaced <name>, whereabouts did it end up',
    'Track down <name> and quote its complete location',
    'Under which directory was <name> stored, answer with its complete location',
    'Hunt for <name>, whereabouts does it live',
  ],
  'find-and-read': [
    'I misplaced <name>, recite it for me',
    'Track down <name> and print out the message',
    'Dig up <name> wherever it lives and quote it',
    'Hunt for <name>, I would like to see its message',
  ],
  copy: [
    'Duplicate <file> over at <target>',
    'Clone <file>, the clone goes to <target>',
    'I would like <target> to hold exactly what <file> holds',
    'Back up <file> under <target>',
  ],
  'folder-then-write': [
    'Set up a directory <folder> and jot down "<text>" as <name> within',
    'Start a directory <folder> whose only document <name> reads "<text>"',
    'Prepare <folder>, a directory, and store the sentence "<text>" under <name>',
    'Have a directory <folder> hold a document <name> reading "<text>"',
  ],
  'find-and-move': [
    'Track down <name> and relocate it to <to>',
    'I misplaced <name>, wherever it lives transfer it to <to>',
    'Hunt for <name>, its new home is <to>',
    'Dig up <name> and drop it within <to>',
  ],
  gather: [
    'Collect <files> under a fresh directory <folder>',
    'Set up a directory <folder> and transfer <files>',
    'Group <files> together within a fresh directory <folder>',
    'Bring <files> together, their home is a fresh directory <folder>',
  ],
  'if-content': [
    'Depending on <file>: for "<value>" <yes>, in every other case <no>',
    'Should <file> read "<value>", <yes>, failing that <no>',
    'Have a glance at <file>. Given "<value>", <yes>. Given anything else, <no>',
    'Provided that <file> reads "<value>", <yes>; elsewise <no>',
  ],
  'if-exists': [
    'Should <folder> hold <name>, <yes>, failing that <no>',
    'Depending on whether <name> sits within <folder>: <yes>, without it <no>',
    'Provided that <name> lives under <folder>, <yes>; elsewise <no>',
    'Have a glance at <folder>. Given <name>, <yes>. Without that document, <no>',
  ],
}
