"""Colors, icons, the style sheet, and the switch between themes."""
