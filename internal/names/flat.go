package names

import "maps"

// Flat returns the values in a table and its subtables by their full names, such as
// method.learning_rate. The prefix precedes all names.
func Flat(prefix string, table map[string]any) map[string]any {
	all := map[string]any{}
	for key, value := range table {
		if within, is := value.(map[string]any); is {
			maps.Copy(all, Flat(prefix+key+".", within))
		} else {
			all[prefix+key] = value
		}
	}
	return all
}
