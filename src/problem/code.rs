//! The closed list of problem codes. A code is never reused or renumbered.

use super::Severity;

/// What `dbrender explain CODE` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// One line.
    pub title: &'static str,
    /// A paragraph: why it is a problem and what follows from it.
    pub text: &'static str,
    /// What to type next, when the problem has no better hint of its own.
    pub hint: &'static str,
}

macro_rules! codes {
    ($( $id:literal $name:ident $severity:ident { $title:literal, $text:literal, $hint:literal } )*) => {
        /// A stable code. Its number stands in output, its name in conditions, metrics and webhook answers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $( #[doc = $title] $name, )*
        }

        impl Code {
            /// Every code, by number.
            pub const ALL: &'static [Code] = &[ $( Code::$name, )* ];

            /// The number, for example `DBR201`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $( Code::$name => $id, )* }
            }

            /// The name, for example `ReplicasOutOfRange`: one word for conditions and metrics.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( Code::$name => stringify!($name), )* }
            }

            /// Whether it stops the run.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $( Code::$name => Severity::$severity, )* }
            }

            /// The text of `dbrender explain`.
            #[must_use]
            pub const fn explanation(self) -> Explanation {
                match self { $( Code::$name => Explanation { title: $title, text: $text, hint: $hint }, )* }
            }
        }
    };
}

impl Code {
    /// The hint that fits every case of the code.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        self.explanation().hint
    }

    /// The code of a number or a name, letter case aside.
    #[must_use]
    pub fn find(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|c| c.id().eq_ignore_ascii_case(text) || c.name().eq_ignore_ascii_case(text))
    }
}

codes! {
    "DBR101" Unreadable Error {
        "a file cannot be read",
        "The file does not exist, may not be read, or is no regular file. Nothing is rendered from a part of the input.",
        "check the path and its permissions"
    }
    "DBR102" NotText Error {
        "a file is not UTF-8 text",
        "Kubernetes reads YAML and JSON as UTF-8. Other encodings would be misread, so they are refused.",
        "save the file as UTF-8"
    }
    "DBR103" Syntax Error {
        "the text is not YAML or JSON that Kubernetes can read",
        "The document cannot be parsed, or Kubernetes' own reader would refuse it.",
        "mend the text at the marked place"
    }
    "DBR104" TextAfterEnd Error {
        "text stands where Kubernetes drops it silently",
        "What follows a line of three dots, or a separator with something behind it, is ignored or refused by kubectl. It would look applied and is not.",
        "start the next document with a line of three dashes"
    }
    "DBR105" TooLarge Error {
        "the text is too large, too deep, or grows too much through aliases",
        "Bounds keep a hostile file of a pull request from taking the machine down. No Database comes near them.",
        "split the file, or write the values out instead of using aliases"
    }
    "DBR106" NothingFound Error {
        "no Database was found",
        "An empty result would look like success, and a tree that is pruned to it would delete every database.",
        "name a file or directory that holds a Database, or check that kind and apiVersion are right"
    }
    "DBR107" UnknownVersion Error {
        "a Database has an apiVersion that this build does not know",
        "The kind and the group are right, the version is not. Reading it as another version could change its meaning.",
        "use apiVersion: app.example.com/v1alpha1"
    }
    "DBR201" UnknownField Error {
        "a field does not exist",
        "An unknown field is usually a misspelt one. The API server would drop it silently, and the setting would be missing without a word.",
        "remove the field or correct its name"
    }
    "DBR202" DuplicateKey Error {
        "a key stands twice",
        "Kubernetes takes the last one without a word. Which one was meant cannot be known.",
        "keep one of the two keys"
    }
    "DBR203" WrongType Error {
        "a value has the wrong type",
        "YAML turns some words and digits into numbers or booleans. The API server refuses a value of another type than the schema's.",
        "write the value in the type that the field has; quote text that looks like a number"
    }
    "DBR204" MissingField Error {
        "a required field is absent",
        "The field has no default, because no value would be safe for everybody.",
        "add the field to the marked object"
    }
    "DBR205" UnknownValue Error {
        "a value is none of those that the field allows",
        "The field takes one word of a closed list.",
        "use one of the words that the message names"
    }
    "DBR206" OutOfRange Error {
        "a number is outside its range",
        "The bounds are those of the CustomResourceDefinition.",
        "use a number within the bounds"
    }
    "DBR301" InvalidName Error {
        "the name of a Database cannot be the name of its objects",
        "Services carry the name, so it must be a DNS label that starts with a letter; and the names made from it must fit into 52 characters for a CronJob and 63 for a label. That leaves 45.",
        "use at most 45 lower-case letters, digits and dashes, starting with a letter"
    }
    "DBR302" MissingNamespace Error {
        "a Database has no namespace",
        "A tree of files is applied by somebody else, whose current namespace is not known here.",
        "add metadata.namespace, or give --namespace"
    }
    "DBR303" InvalidNamespace Error {
        "the namespace is no DNS label",
        "The API server refuses such a namespace, and it is part of the path of every file that is written.",
        "use at most 63 lower-case letters, digits and dashes"
    }
    "DBR304" SameObjectTwice Error {
        "two Databases would write the same object",
        "The later one would overwrite the earlier one in the cluster and in the tree.",
        "rename one of the two"
    }
    "DBR305" ReservedLabel Error {
        "a label or annotation belongs to dbrender or to another tool",
        "Its value decides what is selected, pruned or owned. Setting it by hand would break that.",
        "remove the marked entry"
    }
    "DBR306" NamespaceDiffers Error {
        "metadata.namespace and --namespace are not the same",
        "Each is a clear wish, and following one of them would put a database where somebody does not look for it.",
        "remove one of the two"
    }
    "DBR311" UnknownEngineVersion Error {
        "the catalog has no such version of the engine",
        "Each version stands for an image that has been tried. A guessed tag could be another operating system with other collations, or not exist.",
        "use a version that the message names"
    }
    "DBR312" EngineNotRendered Error {
        "this build cannot render the engine, this series of it, or this kind of failover, yet",
        "The API knows it, but what runs in its pods has not been tried on real servers. Rendering it would start a database that nobody has tried.",
        "use what the message names, or a newer dbrender"
    }
    "DBR313" VersionNearItsEnd Warning {
        "the version of the engine gets no more fixes soon, or no longer",
        "A version without fixes keeps its security holes.",
        "plan the move to a newer version"
    }
    "DBR314" TriedInParts Warning {
        "what runs in the pods of the engine has not run on its server",
        "No server of the engine can be had where dbrender is tested. What is rendered is accepted by API servers; the scripts in the pods have run in parts, as the page of the engine in docs/ says, and nobody has seen them form, keep or restore a real database.",
        "try it with your own server first: a member killed, members added and removed, a backup restored"
    }
    "DBR321" InvalidStorageSize Error {
        "storage.size cannot be a volume",
        "The size must be a whole number of Gi or Ti above zero, as the CustomResourceDefinition says.",
        "write a size such as 100Gi"
    }
    "DBR331" InvalidQuantity Error {
        "a value is no Kubernetes quantity",
        "The API server refuses it.",
        "write a quantity such as 500m, 2, 512Mi or 4Gi"
    }
    "DBR332" OddQuantity Error {
        "a quantity is of the wrong kind or size",
        "A cpu in Gi or a memory in m is accepted by the API server and never what was meant; zero and below cannot run.",
        "use cores or millicores for cpu and Mi or Gi for memory"
    }
    "DBR333" TooFewResources Error {
        "the resources are too small for the engine",
        "Below this the server is killed for its memory while it starts, or its probes fail.",
        "use at least what the message names"
    }
    "DBR341" InvalidSchedule Error {
        "backup.schedule is no schedule that Kubernetes can read",
        "The CronJob would be refused by the API server, and there would be no backup.",
        "write five fields such as \"0 2 * * *\""
    }
    "DBR342" ScheduleWithTimeZone Error {
        "backup.schedule holds a time zone",
        "Kubernetes refuses TZ= and CRON_TZ= inside a schedule; the CronJob has a field of its own for it.",
        "move the zone to backup.timeZone"
    }
    "DBR343" ScheduleNeverFires Error {
        "backup.schedule never comes",
        "The expression is valid and no day matches it, so there would be no backup and no error.",
        "check day of month and month"
    }
    "DBR344" UnknownTimeZone Error {
        "backup.timeZone is no time zone",
        "The API server knows the names of the IANA database only.",
        "write a name such as Europe/Berlin"
    }
    "DBR345" InvalidRetention Error {
        "backup.retention would keep no backup",
        "The newest complete backup is never deleted, so at least one is kept.",
        "use a retention of 1 or more"
    }
    "DBR346" UnknownDestination Error {
        "backup.destination names no destination of the platform file",
        "A backup that goes nowhere is none.",
        "use volume, or add the destination under backupDestinations in dbrender.yaml"
    }
    "DBR347" NoBackups Warning {
        "a Database has no backups",
        "With backup.enabled false, backup.suspend true or hibernation nothing can be restored but the volumes themselves.",
        "enable backups, or keep the warning in mind"
    }
    "DBR348" FrequentBackups Warning {
        "backups follow each other faster than they can be made",
        "A backup takes minutes, and one that is due while another is at work is left out. The schedule promises more than it gives.",
        "leave at least five minutes between two backups"
    }
    "DBR349" WalArchiveNotPossible Error {
        "the write-ahead log of this Database cannot be archived",
        "The log alone is of no use: it goes on from a base backup, which the schedule makes, and both need a store that pods on all nodes reach.",
        "see the message for what does not fit, or remove backup.walArchive"
    }
    "DBR351" ManualNotPossible Error {
        "the engine has no manual failover",
        "Its members always elect their primary themselves.",
        "remove failover, or set it to Automatic"
    }
    "DBR352" PrimaryWithoutManual Error {
        "primary is set and the members elect it themselves",
        "With failover: Automatic the primary is wherever the members put it.",
        "remove primary, or set failover: Manual"
    }
    "DBR353" PrimaryOutsideReplicas Error {
        "primary is no member",
        "Ordinals run from 0 to replicas - 1. A Service that selects no pod has no database behind it.",
        "use an ordinal below replicas"
    }
    "DBR354" EvenReplicas Warning {
        "an even number of members survives no more failures than one member less",
        "With two members of an engine that needs a majority, the loss of one stops writes.",
        "use 1, 3, 5 or 7"
    }
    "DBR355" NoAutomaticFailover Warning {
        "nobody promotes a standby when the primary fails",
        "failover: Manual waits for a person who moves spec.primary.",
        "use failover: Automatic, or keep the runbook at hand"
    }
    "DBR361" InvalidIdentifier Error {
        "a database or user name cannot be used",
        "The name has characters that would need quoting in every client, is too long for the server, or belongs to the server or to dbrender.",
        "use lower-case letters, digits and underscores, starting with a letter"
    }
    "DBR362" UnknownParameter Error {
        "the engine has no such setting",
        "The server refuses to start with a setting that it does not know.",
        "correct the name, or check the version's manual"
    }
    "DBR363" ReservedParameter Error {
        "the setting is dbrender's own",
        "Replication, paths, credentials or the network depend on it; another value would break what is promised.",
        "remove it; where the message names a field, set that"
    }
    "DBR364" InvalidParameter Error {
        "the value does not fit the setting",
        "The server would refuse to start or to reload with it.",
        "write a value of the setting's type, unit and range"
    }
    "DBR371" InvalidReference Error {
        "the name of another object is not valid",
        "A Secret, a storage class or a priority class is named by a word that Kubernetes allows for no object, so nothing of that name can exist.",
        "use lower-case letters, digits, dashes and dots"
    }
    "DBR372" CredentialsNotAllowed Error {
        "spec.credentials and the platform's credentials mode do not fit",
        "With mode existing every Database must name its Secrets; with mode external they come from the store.",
        "add or remove spec.credentials, or change credentials.mode in dbrender.yaml"
    }
    "DBR373" InvalidRestore Error {
        "bootstrap.fromBackup cannot be restored",
        "The backup must be one that this Database can reach: same namespace, or an S3 destination that names the namespace under sharedWith; and a Database cannot be its own source.",
        "see the message for what does not fit"
    }
    "DBR374" InvalidLabel Error {
        "a label, annotation or selector is not valid",
        "The API server refuses the object that carries it.",
        "use a valid key and a value of at most 63 letters, digits, dashes, underscores and dots"
    }
    "DBR375" InvalidToleration Error {
        "a toleration is not valid",
        "The API server refuses the StatefulSet that carries it.",
        "see Kubernetes' rules for key, operator, value and effect"
    }
    "DBR376" InvalidAnnotation Error {
        "an annotation that steers dbrender has a wrong value",
        "The annotation would be ignored at the moment when somebody relies on it.",
        "correct the value or remove the annotation"
    }
    "DBR377" AnnotationLeftBehind Warning {
        "an annotation that was meant for one moment is still there",
        "It does nothing any more, and would surprise whoever finds it next time.",
        "remove the marked entry"
    }
    "DBR378" ControlCharacter Warning {
        "a value holds a control character",
        "Kubernetes keeps it; kustomize and some editors do not read it back.",
        "remove the character"
    }
    "DBR401" EngineChanged Error {
        "the engine of a Database cannot change",
        "The data on the volumes belongs to the old engine.",
        "make a new Database and move the data by a dump"
    }
    "DBR402" StorageShrunk Error {
        "a volume cannot shrink",
        "Kubernetes and the file system refuse it; making a smaller volume means copying the data.",
        "keep the size, or restore a backup into a new Database"
    }
    "DBR403" StorageClassChanged Error {
        "the storage class of existing volumes cannot change",
        "Claims are immutable in their class.",
        "restore a backup into a new Database with the other class"
    }
    "DBR404" Downgraded Error {
        "a server cannot go back to an older version",
        "The data directory has been written by the newer one.",
        "restore a backup of the older version into a new Database"
    }
    "DBR405" MajorUpgrade Error {
        "a major version is not changed in place",
        "The new server refuses the old data directory. Changing the image alone would stop the database.",
        "restore a backup into a new Database of the new version, then switch over"
    }
    "DBR406" ImmutableChanged Error {
        "a field that is fixed at creation has changed",
        "What it named exists in the server or in the cluster under the old name.",
        "put the old value back, or make a new Database"
    }
    "DBR407" StandbySettingChanged Error {
        "a setting that standbys must not have lower cannot be changed like this in Manual",
        "A standby with a lower value than its primary stops. Lowering it, or raising it while the primary is not ordinal 0, would meet exactly that in the StatefulSet's order.",
        "set primary: 0 before raising; lower it by the recipe in docs/, on the page of the engine, which copies the standbys anew"
    }
    "DBR408" ProfileChanged Warning {
        "changing failover is a migration",
        "The server changes hands between dbrender's own promotion and the members' election. The volumes are kept and the pods restart.",
        "follow the recipe in the documentation, and take a backup first"
    }
    "DBR409" PrimaryRemoved Error {
        "the present primary would be removed before another has taken over",
        "The new primary waits for the last checkpoint of the old one. A member that is scaled away in the same change cannot give it.",
        "move primary first; lower replicas when the new primary is at work"
    }
    "DBR410" SeriesRaised Warning {
        "the server of the next series starts on the files that are there",
        "Its makers support the step. No older series may read the files again, so the way back is a backup that was made before.",
        "take a backup first, and read what the makers say of the step"
    }
    "DBR411" TlsRemoved Error {
        "members that speak TLS cannot follow those that do not",
        "Members restart one after the other. Those that have restarted without a certificate are not heard by those that still use theirs, and the majority is lost on the way.",
        "keep spec.tls, or go down to one member before"
    }
    "DBR412" ProfileChangedAtOnce Error {
        "failover changes while there is more than one member",
        "Members restart one after the other, the highest ordinal first. Under the other profile it does not know that member 0 takes writes, and takes writes too.",
        "set replicas: 1 and let it be applied; then change failover; then raise replicas. The page of the engine in docs/ has the recipe"
    }
    "DBR501" InvalidPlatform Error {
        "a value of the platform file is not valid",
        "The platform file decides over every Database of the repository, so it is not guessed at.",
        "correct the value"
    }
    "DBR502" UnknownEnvironment Error {
        "the platform file has no such environment",
        "--env chooses one of the overlays under environments.",
        "use a name that the message lists"
    }
    "DBR503" UnknownCatalog Error {
        "the catalog has no such edition",
        "A newer dbrender brings newer editions; older ones are never removed.",
        "use a number that the message names"
    }
    "DBR504" NewerCatalog Warning {
        "a newer edition of the image catalog exists",
        "Editions bring newer minor versions with their fixes. Choosing one restarts the databases whose image it changes.",
        "set catalog in dbrender.yaml, and let `dbrender diff --base` count the restarts"
    }
    "DBR505" AboveLimit Error {
        "a Database asks for more than the platform allows",
        "The platform file has limits for replicas, storage, engines and namespaces.",
        "ask for less, or ask the platform team"
    }
    "DBR601" EditedFile Error {
        "a file of the output tree was edited by hand",
        "It is listed in dbrender.lock with another content. Overwriting it would lose the edit.",
        "move the change into the Database or the platform file, or name the file with --force-overwrite"
    }
    "DBR602" ForeignFile Error {
        "a file that dbrender does not own stands where it would write",
        "Only files listed in dbrender.lock are overwritten or removed.",
        "move the file away, or name it with --force-overwrite"
    }
    "DBR603" ConflictMarker Error {
        "a file of the output tree holds a merge conflict",
        "Somebody has to decide, and rendering over it would decide silently.",
        "resolve the conflict, or check the tree out again, then render"
    }
    "DBR604" WouldBeEmpty Error {
        "the last Database would be removed from the tree",
        "An empty tree that is synced deletes every database. It is more often a wrong path than a wish.",
        "check the path; give --allow-empty if it is meant"
    }
    "DBR605" LeftBehind Warning {
        "the tree holds files of a Database that the input does not have",
        "They stay, and so does the Database in the cluster.",
        "give --prune to remove them"
    }
    "DBR606" Unwritable Error {
        "the output tree cannot be written",
        "A directory or file could not be made, replaced or locked. Files that were replaced already are whole; the next run repairs the rest.",
        "check space, permissions and whether another run is at work"
    }
    "DBR607" BrokenLock Error {
        "dbrender.lock cannot be read",
        "Without it nobody knows which files of the tree are ours.",
        "restore the file from Git, or remove the directory of the Database and render again"
    }
    "DBR701" CannotRead Error {
        "something in the cluster could not be read",
        "The server gave no answer, only a part of one, or one that makes no sense. What was not seen is reported as unknown and never as missing or in sync.",
        "mend what the message names and run the command again; without a cluster, compare with a dump: --live FILE"
    }
    "DBR702" NotAllowedToRead Error {
        "the server does not let us read a kind of object",
        "Comparing needs get and list, and nothing else. What was not seen is reported as unknown and never as missing or in sync.",
        "apply what `dbrender rbac viewer` prints and bind it to yourself, or leave Secrets out with --no-secret-read"
    }
    "DBR703" UnreadableObject Error {
        "an object in the cluster has a form that cannot be compared",
        "It is there, but for example the data of a Secret is not base64. Everything else is compared.",
        "look at the object with kubectl get -o yaml"
    }
    "DBR704" NoSuchKind Warning {
        "the server does not know a kind of object, or a namespace",
        "Its objects are reported as missing: they cannot be there. A custom resource needs its definition first.",
        "install the operator whose kind it is, or make the namespace"
    }
    "DBR705" KindNotInDump Warning {
        "a dump holds not one object of a kind",
        "A dump does not say which kinds it was made of. What it does not hold is called missing, which is wrong when its kind was left out.",
        "if kinds were left out, dump again with: kubectl get sa,role,rolebinding,secret,cm,pvc,svc,netpol,pdb,sts,job,cronjob -A -o json"
    }
    "DBR706" NotEverywhere Warning {
        "orphans in other namespaces were not looked for",
        "Listing a kind in all namespaces is not allowed, so only the namespaces of the Databases were read.",
        "bind the ClusterRole of `dbrender rbac viewer`, or leave -A out"
    }
    "DBR707" UntriedKubernetes Warning {
        "the server's version of Kubernetes has not been tried",
        "What the server fills in by itself is known for the tried versions. Another version may fill in more, which then looks like an addition of others, or like drift.",
        "use a dbrender that knows the version, and --server-dry-run as a second opinion"
    }
    "DBR708" ServerDisagrees Warning {
        "the server would do something else than the comparison says",
        "With --server-dry-run the API server is asked what an apply would change. It refuses, or its answer and the comparison differ.",
        "trust the server, and report the difference with both versions"
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn numbers_are_unique_and_ascend() {
        for pair in Code::ALL.windows(2) {
            assert!(pair[0].id() < pair[1].id(), "{} is not below {}", pair[0].id(), pair[1].id());
        }
    }

    #[test]
    fn each_has_a_title_a_text_and_a_hint() {
        for code in Code::ALL {
            let e = code.explanation();
            for (what, text) in [("title", e.title), ("text", e.text), ("hint", e.hint)] {
                assert!(text.len() > 10, "{} has no {what}", code.id());
            }
            assert!(!e.title.ends_with('.'), "{}: a title is no sentence", code.id());
            assert!(e.text.ends_with('.'), "{}: a text is sentences", code.id());
        }
    }
}
