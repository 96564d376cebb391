/**
 * Tools of the servers that models are later trained and judged on. The corpus must not contain them; they stand here
 * so that a name made by chance is drawn again.
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

/** True for a name that differs from such a tool's only in capitals and separators. */
export const isReservedName = (name: string): boolean => reserved.has(normalised(name))
