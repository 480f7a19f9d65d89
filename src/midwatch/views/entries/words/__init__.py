"""One plain English line for each kind of event, by the part of the day it belongs to."""
