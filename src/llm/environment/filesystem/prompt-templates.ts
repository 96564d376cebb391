/**
 * Prompt templates of each kind. Choices are `[a|b|]`, names are `<placeholders>`. A name at the end of a request has
 * no full stop after it, because the stop could be read as part of the name.
 */
export const promptTemplates = {
  read: [
    '[|Please |Can you |Could you ][read|open|look at] <file> and [tell me|report] [what it says|what is in it|its text]',
    'What does <file> [say|contain]',
    '[Tell me|Show me|I need to know|I want to know] what <file> [says|contains]',
    '[|Please |Can you |Could you ][show me|give me|report] [the text of|the text in|the content of] <file>',
  ],
  write: [
    '[|Please |Can you |Could you ][write "<text>" to|write "<text>" into|save "<text>" to|save "<text>" in|put "<text>" in|put "<text>" into] [|the new file |a new file ]<file>',
    '[|Please |Can you |Could you ][create|make|add] [|the file |a file ]<file> [with the text|containing|that says] "<text>"',
    '[I need|I want] [a file|a new file] <file> [with the text|containing|that says] "<text>"',
  ],
  edit: [
    '[|Please |Can you |Could you ]change "<old>" to "<new>" in [|the file ]<file>',
    '[|Please |Can you |Could you ]replace [|the word ]"<old>" [with|by] "<new>" in [|the file ]<file>',
    'In <file>[,|] [change|update|correct] "<old>" to "<new>"',
    '[The word|The text] "<old>" in <file> [should be|must be|needs to be] "<new>", [please change it|fix it]',
    '[Edit|Update|Change] <file> so that [it says "<new>" instead of "<old>"|"<old>" becomes "<new>"]',
  ],
  'make-folder': [
    '[|Please |Can you |Could you ][make|create|add] [a folder|a new folder|the folder] <folder>',
    '[|Please |Can you |Could you ][make|create|add] a [|new ]folder [called|named] <name> [in|inside] <parent>',
    '[In|Inside] <parent>[,|] [make|create|add] a [|new ]folder [called|named] <name>',
    '[I need|I want] [a|a new] folder [called|named] <name> [in|inside] <parent>',
    '[I need|I want] [a folder|a new folder|the folder] <folder>',
  ],
  move: [
    '[|Please |Can you |Could you ]move <file> [to|into] [|the folder ]<to>',
    '[|Please |Can you |Could you ]put <file> [in|into|inside] [|the folder ]<to>',
    'Take <file> and [move|put] it [into|inside] [|the folder ]<to>',
    '<file> [belongs|should be|must be] [in|inside] [|the folder ]<to>, [please move it|move it there|put it there]',
  ],
  rename: [
    '[|Please |Can you |Could you ]rename [|the file ]<file> to <new>',
    '[|Please |Can you |Could you ]change the name of [|the file ]<file> to <new>',
    '[|Please |Can you |Could you ]give [|the file ]<file> the [|new ]name <new>',
    '<file> [should be|must be|needs to be] [called|named] <new>, [please rename it|change the name]',
    '[I want|I need] <file> to be [called|named] <new>',
  ],
  count: [
    '[|Tell me |Count |I want to know ]how many files [are in|are inside|there are in] [|the folder ]<folder>',
    '[|Please |Can you |Could you ]count the files [in|inside] [|the folder ]<folder>[| and tell me the number| and give me the number]',
    '[Tell me|Give me|What is|I need] the number of files [in|inside] [|the folder ]<folder>',
  ],
  find: [
    '[|Please |Can you |Could you ][find|locate|search for|look for] [|the file ]<name> and [tell me its path|tell me the full path|tell me where it is|report its path|give me its path|give me the full path]',
    'Where is [|the file ]<name>',
    '[Tell me|Give me|Show me|What is|I need] the [|full ]path of [|the file ]<name>',
    '[I need to know|I want to know|Tell me|Do you know] where [|the file ]<name> is',
  ],
  'find-and-read': [
    '[|Please |Can you |Could you ][find|locate|search for|look for] [|the file ]<name> and [tell me|report] [what it says|what is in it|its text]',
    'What does [|the file ]<name> [say|contain], [I do not know|I forgot] [where it is|the folder]',
    '[Find|Locate|Search for] [|the file ]<name>, then [read|open] it and [tell me|report] [the text|what it says]',
    '[Somewhere there is|There is] a file [called|named] <name>, [find it and|please] tell me [what it says|its text]',
  ],
  copy: [
    '[|Please |Can you |Could you ]copy the [text|content] of <file> [to|into] [|the new file |a new file ]<target>',
    '[|Please |Can you |Could you ]copy <file> [to|as] <target>',
    '[|Please |Can you |Could you ][make|create|save] a copy of <file> [at|as|in] <target>',
    '[Read|Open] <file> and [write the same text to|write the same content to|write its text to|save its text in|save its content in|save the same text in|put its text into|put the same content into] <target>',
  ],
  'folder-then-write': [
    '[|Please |Can you |Could you ][make|create|add] the folder <folder> and [write "<text>" to|save "<text>" to|save "<text>" in|put "<text>" in|put "<text>" into] <name> [in it|inside it|there]',
    '[Make|Create|Add] [a|a new] folder <folder>, then [write "<text>" to|save "<text>" to|save "<text>" in|put "<text>" in|put "<text>" into] <name> [in it|inside it|there]',
    '[In|Inside] a new folder <folder>[,|] [make|create|add] the file <name> [with the text|that says|containing] "<text>"',
    '[I need|I want] a [|new ]folder <folder> with a file <name> in it [with the text|that says|containing] "<text>"',
  ],
  'find-and-move': [
    '[|Please |Can you |Could you ][find|locate|search for|look for] [|the file ]<name> and [move it to|move it into|put it in|put it into] [|the folder ]<to>',
    '[Find|Locate|Search for] [|the file ]<name>, then [move it to|move it into|put it in|put it into] [|the folder ]<to>',
    '[Somewhere there is|There is] a file [called|named] <name>, [find it and|please] [move it to|move it into|put it in|put it into] <to>',
    '<name> [belongs|should be|must be] in [|the folder ]<to>, find it and [move|put] it there',
  ],
  gather: [
    '[|Please |Can you |Could you ][make|create|add] the folder <folder> and [move|put] <files> [into it|in it|there]',
    '[|Please |Can you |Could you ][move|put] <files> into [a|the] new folder <folder>',
    '[I want|I need] <files> in [a|the] new folder <folder>',
    '[Make|Create|Add] [a|a new] folder <folder>, then [move|put] <files> [into it|in it|there]',
  ],
  'if-content': [
    'If <file> says "<value>"[,|, then] <yes>, [otherwise|if not|or else] <no>',
    '[|Please |Can you |Could you ][read|open|check|look at] <file>: if it says "<value>" <yes>, [otherwise|if not|or else] <no>',
    '[Read|Open|Check|Look at] <file> and <yes> if it says "<value>", [otherwise|if not|or else] <no>',
  ],
  'if-exists': [
    'If there is a file [called|named] <name> in [|the folder ]<folder>[,|, then] <yes>, [otherwise|if not|or else] <no>',
    '[|Please |Can you |Could you ][look in|look into|check] <folder>: if [it has|there is] a file <name> <yes>, [otherwise|if not|or else] <no>',
    'If <folder> has a file [called|named] <name>[,|, then] <yes>, [otherwise|if not|or else] <no>',
  ],
} as const

export type FilesystemKind = keyof typeof promptTemplates

/** The two branches of a condition. Both use the same verb. */
export const branchVerbs = {
  folder: ['make the folder', 'create the folder', 'add the folder'],
  move: ['move', 'put'],
} as const
