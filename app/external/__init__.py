"""Tools of other programs: servers of the Model Context Protocol that the user added."""
