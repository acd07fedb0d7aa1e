package session

// Environment names the directory in which a cell finds the session of its
// kernel: a socket, and the token that requests on it have to show.
const (
	Environment = "HELMHOLTZ_SESSION"
	SocketFile  = "session.sock"
	TokenFile   = "token"
)

// Folder is where runs are, from the working directory, which is the
// notebook's.
const Folder = "runs"

// experimentFile is the file of a run directory that holds the experiment.
const experimentFile = "experiment.toml"

// Largest is the size of the largest model or data set that cells and the kernel
// pass to each other, in bytes.
const Largest = 1 << 30
