package dataset

// Rules is the version of the rules by which a file of your own becomes rows. Data that is opened again by the rules
// of its Spec has the same rows, although a later version of the program may read new files differently.
type Rules uint8

const (
	// FirstRules are the rules of programs that did not record them.
	FirstRules Rules = 1
	// NewestRules are the rules by which new files are read.
	NewestRules Rules = 2
)

// OpenedBefore returns the Spec of a file that was opened before the Spec was written. If it records no Rules,
// FirstRules apply.
func (s Spec) OpenedBefore() Spec {
	s.before = s.Rules == 0 && s.IsFile()
	return s
}

// ReadLike returns the Spec with the rules of another one.
func (s Spec) ReadLike(other Spec) Spec {
	s.Rules, s.before = other.Rules, other.before
	return s
}

// rules returns the rules by which a file is read.
func (s Spec) rules() Rules {
	switch {
	case s.Rules != 0:
		return s.Rules
	case s.before:
		return FirstRules
	}
	return NewestRules
}
