/**
 * How many demonstrations of each family the warm start of the main job shows. Families of one plain call get next to
 * none, since reinforcement learning finds those by itself; deciding, counting and gathering get most, since an agent
 * that never succeeds has nothing to learn from.
 */
export const filesystemDemonstrations: Readonly<Record<string, number>> = {
  read: 4,
  write: 8,
  edit: 8,
  'make-folder': 5,
  move: 6,
  rename: 8,
  count: 40,
  find: 5,
  'find-and-read': 6,
  copy: 8,
  'folder-then-write': 8,
  'find-and-move': 8,
  gather: 60,
  'if-content': 100,
  'if-exists': 100,
}
