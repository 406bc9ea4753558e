"""Messages that leave the machine: the channels there are, their limits, and how they are sent."""
